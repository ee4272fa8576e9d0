"""Players: baselines, value networks, and how they learn."""

if __name__ != "nardy_rl.agents":
    raise ImportError("import nardy_rl.agents instead of agents: this folder is the source of a part of nardy_rl")
