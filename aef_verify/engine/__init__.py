"""Many runs: where they are, and how they are verified; here or in several processes, with one result."""
