//go:build linux

// Compat tests the facts about Claude Code that claude-swarm relies on, version by
// version, and writes the answers to docs/compatibility.md.
//
//	make compat                                 the oldest and the newest supported version
//	make compat VERSIONS="2.1.197 2.1.330"      these versions, installed below .tools
//
// The page contains only the supported versions; the answers for other versions are only
// printed. Each fact is tested by a separate experiment. The experiment runs the real
// program in a separate home folder and project folder, against the scripted Messages API
// of internal/fakeapi, in a network namespace that has only loopback. An answer describes
// the observed behavior. If claude-swarm does not work with an answer, the table marks
// that answer and the exit status is 1.
//
// No code from this package is linked into the product.
package main
