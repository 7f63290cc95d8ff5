// Package floorplan holds the tests that keep the house in order: which package
// may import which, that each says what it promises, and that no tracked file
// speaks of one machine.
//
// It has no code. The plan itself is drawn in docs/architecture.md.
package floorplan
