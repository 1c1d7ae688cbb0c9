"""Read documents that are not plain text: DOCX, PPTX, XLSX, CSV, EML, EPUB, HTML, JSON lines and PDF."""
