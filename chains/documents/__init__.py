"""What a document says of itself: its audience, its names and links, its versions, its text in an index."""
