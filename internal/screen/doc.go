// Package screen formats values for a screen of limited width: text that cannot steer the
// terminal, cut or wrapped to a number of columns; numbers with the thing that they count;
// times, spans and money. It knows neither terminals nor colours.
package screen
