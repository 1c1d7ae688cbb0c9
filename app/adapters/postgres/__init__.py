"""PostgreSQL: connections, what its errors mean, and the tables that stores and sessions keep things in."""
