"""Progressive disclosure: the model unlocks tools skill by skill."""
