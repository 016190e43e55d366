"""Results as typed data for readers: what the command line, Markdown, JSON and the report show."""
