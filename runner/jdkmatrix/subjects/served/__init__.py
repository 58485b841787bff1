"""An application on a server: warm it, put it under load, measure windows."""
