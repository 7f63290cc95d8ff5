// Package screen makes of values what a person reads on a screen of a bounded width: text
// that cannot steer the terminal, in so many columns; numbers with the thing that they
// count; times, spans and money. Nothing in it knows a terminal, or colours.
package screen
