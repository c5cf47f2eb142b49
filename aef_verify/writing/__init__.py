"""What a producer and a sealer write."""
