"""The web page: server-rendered HTML that shares its parts with ``react-run trace --html``, updated by htmx."""
