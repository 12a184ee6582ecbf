"""One run as a file to share: Markdown, HTML, CSV or plain values, with a citation and its hash."""
