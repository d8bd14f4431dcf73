"""Running a recorded run again: replay and resume."""
