"""The reader: a study and its runs as pages in a browser, served or written into a folder."""
