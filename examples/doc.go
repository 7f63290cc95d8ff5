// Package examples has no code: its folders are complete projects to copy, and its test
// loads each of them.
package examples
