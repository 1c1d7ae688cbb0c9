"""Documents from buckets and web sites."""
