"""The import name of the suite: its folders are linked in here, so that they install as one package."""
