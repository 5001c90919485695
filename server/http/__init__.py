"""The door for programs and browsers."""
