"""What an agent may touch: patches and seals of its files."""
