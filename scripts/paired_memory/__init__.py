"""The rooms of `scripts/verify-paired-memory.py`: the program under test, what it left, the cases it must pass."""
