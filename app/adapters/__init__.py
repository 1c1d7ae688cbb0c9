"""Outside services, one file each, named like the service; a plain value goes in, a LangChain object comes out."""
