"""Judge whether this host is fit for measurements, say what to do about it, and do so reversibly."""
