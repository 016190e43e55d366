"""Results as numbers and sentences for readers: what the command line and the report share."""
