//go:build linux

// Compat tests the facts about Claude Code that claude-swarm relies on, version by
// version, and writes the answers to docs/compatibility.md.
//
//	make compat                                 the oldest and the newest supported version
//	make compat VERSIONS="2.1.197 2.1.330"      these versions, installed below .tools
//
// The page is written for the supported versions; the answers for other versions are only
// printed. Each fact is tested by a separate experiment. The experiment runs the real
// program in a separate home folder and project folder, against the scripted Messages API
// of internal/fakeapi, in a network namespace with loopback only. An answer states what
// was observed. If claude-swarm does not work with an answer, the table marks that
// answer, and the exit status is 1.
//
// Nothing in this package is linked into the product.
package main
