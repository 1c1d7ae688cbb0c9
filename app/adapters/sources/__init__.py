"""Sources of documents beside folders: buckets and web sites."""
