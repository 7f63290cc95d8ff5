// Package floorplan tests the source tree. It checks which packages each package imports,
// that each package documents its guarantees, that names and prose contain no forbidden
// words, that the Makefile's targets work, and that no tracked file names a particular
// machine.
//
// It contains only tests. docs/dev/architecture.md shows the plan as a table.
package floorplan
