"""What carries out a run: an iteration's calls, their deadlines, sensors, guides and streams."""
