// Package streamjson decodes the event stream of an agent program: one JSON
// object a line, as Claude Code prints it with --output-format stream-json
// --verbose (every fact here was seen with versions 2.1.197 and 2.1.330).
//
// The events have names that no program of a backend chose, so that nothing behind
// this package knows whose program it was. Backends for other programs make
// the same [Event] at their own door.
//
//	reader -> line -> members of the object -> Event
//	            \--no JSON object, or longer than the cap -> Event of kind bad
//
// A stream never ends early because of what is in it. A line that is not JSON,
// that is too long, of an unknown type, or cut off at the end of the stream
// becomes an event too, is counted in [Stats], and the next line is read.
//
// # What a line means
//
// A line means what encoding/json reads into a map: keys in any order are compared exactly,
// the last of two equal ones counts, bytes that are not UTF-8 become U+FFFD. A field that
// is missing or of another type than expected is zero, and the rest of the line counts.
// The parser is not encoding/json, because that is five to ten times slower; a fuzz test
// holds the two together.
//
// # What may be kept
//
// A caller may keep the strings of an event. Everything else (Raw, Input, the slices and
// the targets of the pointers) is reused by the next call of [Decoder.Next]; [Event.Clone]
// makes a copy to keep. Short strings share memory with their neighbours: what is kept for
// hours should be cloned with [strings.Clone], or it holds up to 4 KiB.
//
// # Bounds
//
// One line is at most maxLine bytes; of a longer one the beginning is kept.
// The text of a tool's result and the output of a hook are at most [MaxResult]
// bytes each: beginning and end, with a note between them that says how much
// was cut. Texts of the model are never cut.
package streamjson
