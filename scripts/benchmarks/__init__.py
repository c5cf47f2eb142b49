"""The parts of `scripts/bench.py`: workloads, the floor, how processes are measured, and how that is shown."""
