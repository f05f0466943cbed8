"""Datasets of mirdata as questions: what is asked (facts), and how tracks become questions."""
