"""Doors: files and objects in, packed columns out. Nothing here knows measures."""
