"""A person answers the questions of a task on a page of their own machine, as a model would."""
