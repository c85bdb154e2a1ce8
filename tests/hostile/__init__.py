"""What must not crash, starve or leak the process; each in a process of its own."""
