"""Model providers that are no language models: floors (chance, the commonest answer) and ceilings."""
