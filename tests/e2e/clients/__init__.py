"""Real coding agents from npm, each with a scripted model on loopback."""
