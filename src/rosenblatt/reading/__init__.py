"""Read files and streams as batches of rows: sources of bytes, parsers, and the reader."""
