"""The plugins that ship with react-run; each is named by its kind in an agent file."""
