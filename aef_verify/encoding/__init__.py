"""Bytes to values: spec chapter 2."""
