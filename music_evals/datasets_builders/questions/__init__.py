"""Questions of several benchmarks: sets of published questions, composed ones (`theory`,
`listening`), and what guessers without the music earn on them (`attack`, `floors`, `leaks`).
"""
