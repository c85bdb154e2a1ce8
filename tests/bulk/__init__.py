"""Files checked and converted, on one core and many."""
