package claude

// The range of Claude Code versions that every promise is tested with: the oldest one
// that is supported, and the newest one that was published when this version of
// claude-swarm was made. The Makefile reads both from here, installs them, and the
// tests run the real programs.
const (
	Oldest = "2.1.197"
	Newest = "2.1.330"
)
