"""Deliberate faults in the rules of the table, each to be caught by the tests of the rules."""
