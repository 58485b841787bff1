"""What was published, and under which conditions. Data only; nothing here comes to a verdict."""
