"""Whole screens: the views with what surrounds them, and pages of text."""
