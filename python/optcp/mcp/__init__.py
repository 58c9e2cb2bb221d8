"""Server of the Model Context Protocol, over the public API. Needs the extra ``mcp``."""
