"""The verifier checks its own checks: rules are switched off one at a time, and a vector or a test must notice each.

`mutation` says what a mutation is and `catalogue` lists them, a table for each room; `workplace` is a copy of the
checkout in which one stands at a time, `judging` and `testing` are what runs there, `check` goes through all of them
and `report` says what came out.
"""
