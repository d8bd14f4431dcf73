"""The page: server-rendered HTML that shares its parts with ``react-run trace --html``, live by htmx."""
