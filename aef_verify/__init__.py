"""Independent verification of AI-agent evaluation evidence in the AEF 1.0 format."""
