"""An agent in an editor, over the Agent Client Protocol, with the official SDK."""
