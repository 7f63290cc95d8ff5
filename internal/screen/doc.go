// Package screen formats values for a screen of limited width: text without control
// characters, cut or wrapped to a number of columns; numbers with the thing that they
// count; times, spans and money. It knows nothing about terminals or colours.
package screen
