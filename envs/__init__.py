"""The place for environments that other libraries use; it imports from the core only."""

if __name__ != "nardy_rl.envs":
    raise ImportError("import nardy_rl.envs instead of envs: this folder is the source of a part of nardy_rl")
