"""Files and streams become batches of rows: sources of bytes, parsers, and the reader over both."""
