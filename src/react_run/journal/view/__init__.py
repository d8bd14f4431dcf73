"""Views of a recorded run for people: tree, page, charts and documents."""
