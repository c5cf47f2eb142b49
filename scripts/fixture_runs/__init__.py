"""What the bundled evidence consists of: six runs, their overlays and signatures, and tampered copies of them."""
