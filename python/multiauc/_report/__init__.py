"""The report: one HTML page that works offline."""
