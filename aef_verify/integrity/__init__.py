"""Seals, overlays and signatures: spec chapter 4."""
