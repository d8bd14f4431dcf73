"""Models: each completes a request. The seam is ``base``; the rest are kinds named in agent files."""
