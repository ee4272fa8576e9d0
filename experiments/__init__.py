"""Command line, training runs, duels and benchmarks."""

if __name__ != "nardy_rl.experiments":
    raise ImportError(
        "import nardy_rl.experiments instead of experiments: this folder is the source of a part of nardy_rl"
    )
