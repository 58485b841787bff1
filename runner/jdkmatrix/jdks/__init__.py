"""The JDK catalogue (jdks.json) and the places a JDK can come from."""
