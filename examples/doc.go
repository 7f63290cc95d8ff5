// Package examples has no code: its folders are whole projects to copy, and its
// test loads each of them.
package examples
