//go:build linux

// Compat asks the real Claude Code, version by version, the facts about it that
// claude-swarm stands on, and writes the answers into docs/compatibility.md.
//
//	make compat                                 the oldest and the newest supported version
//	make compat VERSIONS="2.1.197 2.1.330"      these; they are installed below .tools
//
// The page is written for the supported range; the answers of other versions are only
// printed. Each fact is a separate experiment: the real program in its own home and folder,
// against the scripted Messages API of internal/fakeapi, in a network namespace with
// loopback only. An answer is what was seen. One that differs from what claude-swarm needs
// is marked in the table, and the exit status is 1.
//
// Nothing here is linked into the product.
package main
