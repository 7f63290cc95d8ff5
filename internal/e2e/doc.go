// Package e2e contains the tests with real programs: our program as a process, the real
// Claude Code CLI, and the scripted Messages API on loopback instead of the model.
//
// They need the CLI that `make tools` installs below .tools, and fail without it. The
// variable CLI selects its version: oldest, newest (the default), or a version number. Each
// test has its own project and home folder, and a made-up API key. If the machine allows
// it, everything runs in a network namespace that has only loopback.
package e2e
