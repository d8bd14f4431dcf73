"""From words to an agent: what the command line, the server and batches share before a run starts."""
