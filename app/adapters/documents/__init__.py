"""Read documents that are not plain text: DOCX, HTML and PDF."""
