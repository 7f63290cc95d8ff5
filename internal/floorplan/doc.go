// Package floorplan contains the tests of the source tree: which package may import which,
// that each package says what it promises, which words names and texts may not use, that the
// targets of the Makefile work, and that no tracked file names a particular machine.
//
// It contains only tests. docs/architecture.md shows the plan as a table.
package floorplan
