"""The project in here is what an agent works on, with a test that fails."""

collect_ignore_glob = ["project/*"]
