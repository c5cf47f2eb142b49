"""Conformance (09): the command-line contract, and the runner that judges any program through it."""
