"""The command line: the same jobs as the window, without Qt."""
