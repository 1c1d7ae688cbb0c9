"""Readers of Word, Excel, PowerPoint, CSV, mail, EPUB, and of scanned pages."""
