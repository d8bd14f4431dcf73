"""The toolsets that come with react-run; each is found by its entry point and imports only public names."""
