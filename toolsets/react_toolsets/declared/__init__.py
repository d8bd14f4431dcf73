"""Tools declared in the agent file: a program to run (``command``), or a request to send (``http``)."""
