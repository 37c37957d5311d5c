"""The explorer's views."""
