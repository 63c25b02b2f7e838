"""What happened to a source since the watermark; one file per change source."""
