// Package floorplan contains the tests of the source tree's structure: which package may
// import which, that each package says what it promises, and that no tracked file names a
// particular machine.
//
// It has no code. The plan itself is drawn in docs/architecture.md.
package floorplan
