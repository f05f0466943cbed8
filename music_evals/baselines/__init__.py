"""Model providers that are no language models: a reader that parses the notation in the prompt, and chance.

`baseline/reader` shows that a task can be solved from its prompt and is scored right; `baseline/chance` shows what
guessing earns. Neither needs the network.
"""
