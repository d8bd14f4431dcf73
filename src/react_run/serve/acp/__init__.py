"""An agent in an editor, over the Agent Client Protocol; the published SDK carries the protocol."""
