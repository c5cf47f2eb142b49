"""Release decisions, recomputed: spec chapter 5."""
