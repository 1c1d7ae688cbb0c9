"""Annual reports of invented companies as long PDF files, and questions about their pages."""
