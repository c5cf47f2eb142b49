"""The run folder and its rules: spec chapter 3."""
