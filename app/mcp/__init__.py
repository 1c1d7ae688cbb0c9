"""The Model Context Protocol: the documents as tools and resources for agents, over stdio and HTTP.

The SDK is the extra `mcp`; nothing here is imported before somebody asks for it.
"""
