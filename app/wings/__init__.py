"""What some users do without: each folder is whole, plugs in through `app.hooks`, and can be left out."""
