"""The loopback fixture provider and the client of the benchmark: HTTP and scripts, nothing of evidence."""
