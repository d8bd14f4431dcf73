"""A recorded run driven again: replay and resume."""
