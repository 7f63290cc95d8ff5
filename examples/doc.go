// Package examples contains no code. Its folders contain projects and units to copy, and its
// tests check each of them.
package examples
