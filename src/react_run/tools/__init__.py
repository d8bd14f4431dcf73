"""Tools and toolsets, with their schemas and arguments."""
