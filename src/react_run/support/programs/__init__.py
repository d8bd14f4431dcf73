"""Programs that tools start: a deadline, bounded output, and no process left behind."""
