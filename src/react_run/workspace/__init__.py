"""The files that an agent works on: patches and seals."""
