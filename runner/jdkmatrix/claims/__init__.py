"""Published claims and their conditions. Data only; nothing here comes to a verdict."""
