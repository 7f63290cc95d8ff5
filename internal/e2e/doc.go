// Package e2e contains the tests that run real programs: our program as a process and the
// real Claude Code CLI, with a scripted Messages API on loopback in place of the model.
//
// They need the CLI that `make tools` installs below .tools, and fail without it. The
// CLI variable selects the CLI's version: oldest, newest (the default), or a version
// number. Each test has its own project and home folder, and a made-up API key. If the
// machine allows it, everything runs in a network namespace that has only loopback.
package e2e
