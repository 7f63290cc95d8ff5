// Package compat tests whether a Claude Code program behaves as claude-swarm needs it.
//
// A fact is one such property. Its experiment runs the real program in a separate home
// folder and project folder, against the scripted Messages API of internal/fakeapi on
// loopback, so it needs no account and costs nothing. The result of an experiment is an
// answer, such as "yes", and a shape: the part of the client's requests or output that the
// fact is about, without ids, paths, dates and versions. A fact holds if claude-swarm works
// with the answer, and differs if it holds but its shape is not one of those that were
// recorded with the versions in testdata; only a person can judge whether claude-swarm works
// with a new shape.
//
// [Run] leaves no process and no file behind, even if its context is canceled.
package compat
