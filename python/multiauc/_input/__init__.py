"""Arguments as users give them, read once into what the compiled core can read."""
