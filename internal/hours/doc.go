// Package hours computes when weekly hours are open in a time zone. Examples are agents'
// work hours and people's quiet hours. The package also computes when a day begins and
// ends in a zone.
//
// Weekly hours are written as days with spans of hours, separated by commas:
//
//	mon-fri 08:00-20:00
//	mon, wed 09:00-12:00, 13:00-17:00, sat 10:00-14:00
//	22:00-07:00      every day, past midnight
//	always
//
// Spans without days apply to the days listed before them, or to every day if no days are
// listed. Days without a span use the next span. A span that ends earlier in the day than
// it begins ends on the next day. 24:00 is the end of a day.
//
// The hours are local time. On days when the local clock jumps:
//
//	forward    a time that the clock skips counts as the moment of the jump, so 02:30-08:00
//	           begins at 03:00, and a span that is completely inside the jump is left out
//	back       a span begins the first time that the clock shows its start, and ends the last
//	           time that the clock shows its end, without an interruption between them
//
// Open and Change depend only on the time that the caller passes and keep no state, so
// they stay correct after the clock is changed or the machine sleeps.
//
// The zones come from the machine's time zone database; the program does not contain one.
package hours
