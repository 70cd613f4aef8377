"""Our own icons: strokes on a 24 x 24 grid, coloured when drawn."""
