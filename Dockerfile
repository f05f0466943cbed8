# Runs the main command of README.md: docker build -t music-evals . && docker run music-evals
# It has not been built by the project's tests, which run without Docker.
FROM python:3.11-slim-bookworm
WORKDIR /music-evals
COPY . .
RUN python3 -m venv .venv && .venv/bin/pip install -q -c constraints.txt -e .
CMD [".venv/bin/inspect", "eval", "evals/muse.py", "--model", "baseline/reader"]
