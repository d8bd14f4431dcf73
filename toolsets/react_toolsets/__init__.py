"""The bundled toolsets; each is found through its entry point, and imports only public names."""
