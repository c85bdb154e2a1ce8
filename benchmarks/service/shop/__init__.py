"""The application that is measured, as somebody would write it who has never heard of us."""
