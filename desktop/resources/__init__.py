"""What the window shows and does not compute: style sheet and icons."""
