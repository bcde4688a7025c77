"""Pure functions from a session to lines of text: what screen, file and terminal show alike."""
