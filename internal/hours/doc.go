// Package hours computes when the hours of a week are open, in a time zone. Such hours are
// the work hours of agents or the quiet hours of people. The package also computes when a
// day begins and ends in a zone.
//
// A week is written as days with spans of hours, separated by commas:
//
//	mon-fri 08:00-20:00
//	mon, wed 09:00-12:00, 13:00-17:00, sat 10:00-14:00
//	22:00-07:00      every day, past midnight
//	always
//
// Spans without days belong to the days before them, or to every day if there are none.
// Days without a span share the next span. A span whose end is before its beginning ends on
// the next day. 24:00 is the end of a day.
//
// The hours are local time. On days when the local clock jumps:
//
//	forward    a time that the clock skips counts as the moment of the jump, so 02:30-08:00
//	           begins at 03:00, and a span that is completely inside the jump is left out
//	back       a span begins the first time that the clock shows its start, and ends the last
//	           time that the clock shows its end, without an interruption between them
//
// Open and Change are computed from the time that the caller gives them and keep no state,
// so they need no correction after the clock has been set or the machine has slept.
//
// The zones come from the machine's time zone database; the program contains none.
package hours
