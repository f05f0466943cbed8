"""Evaluation of language models on music: datasets, tasks, scorers and reports for four published benchmarks."""
