"""What carries a run out: iterations, calls, deadlines, and what is left to settle."""
