"""What `scripts/fuzz.py` is made of: cases and how they are changed, what must hold for each, how one is made small."""
