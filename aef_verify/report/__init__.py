"""What was found, as one model and its renderings for people and programs."""
