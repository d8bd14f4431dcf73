"""Tools and toolsets: what a model may call, with schemas and arguments."""
