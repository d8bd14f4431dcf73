"""Tools that are written in the agent file: a program to run (``command``), a request to make (``http``)."""
