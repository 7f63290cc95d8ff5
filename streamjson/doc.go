// Package streamjson decodes the event stream of an agent program: one JSON object per
// line, as Claude Code prints it with --output-format stream-json --verbose (every fact
// here was seen with versions 2.1.197 and 2.1.330).
//
// The names of the events do not depend on the program, so that the callers of this package
// need not know which program it was. Backends for other programs produce the same [Event].
//
//	reader -> line -> members of the object -> Event
//	            \--no JSON object, or longer than the limit -> Event of kind bad
//
// No line ends a stream early, whatever it contains. A line that is not JSON, too long,
// of an unknown type, or cut off at the end of the stream becomes an event too and is
// counted in [Stats], and the decoder reads the next line.
//
// # What a line means
//
// A line has the meaning that encoding/json gives it when it decodes into a map: keys may
// have any order and are compared exactly, the last of two equal keys counts, and bytes
// that are not UTF-8 become U+FFFD. If a field is missing or has an unexpected type, its
// value is zero, and the other fields are still read. The parser is not encoding/json,
// which is five to ten times slower; a fuzz test compares the two.
//
// # What may be kept
//
// A caller may keep the strings of an event. Everything else (Raw, Input, the slices and
// the targets of the pointers) may be reused by the next call to [Decoder.Next];
// [Event.Clone] makes a copy to keep. Short strings share memory with their neighbours:
// before you keep a string for hours, clone it with [strings.Clone]. Otherwise it keeps
// up to 4 KiB in memory.
//
// # Bounds
//
// The decoder keeps at most maxLine bytes of each line, from its beginning. It also cuts
// the text of a tool's result and the output of a hook to at most [MaxResult] bytes each:
// it keeps the beginning and the end, with a note between them that gives the size of the
// cut. Texts of the model are never cut.
package streamjson
