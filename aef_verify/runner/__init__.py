"""Plans, runners, event streams, and whether a job kept to its plan: spec chapter 6."""
