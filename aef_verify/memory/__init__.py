"""LongMemEval: the workload, its two arms as evidence, and whether they belong together (docs/MEMORY_PAIR.md)."""
