"""What the launcher of confined programs runs: it stands alone, since it reaches the launcher as compiled text.

Nothing in here imports more than small modules of C: starting a command costs what these imports cost.
"""
