"""tang."""
