// Package screen formats values for a screen of limited width: text without control
// characters, cut or wrapped to a number of columns; numbers with the noun that they
// count; times, durations and money. It does not depend on a terminal and does not use
// colors.
package screen
