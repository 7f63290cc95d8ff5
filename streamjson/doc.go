// Package streamjson decodes the event stream of an agent program: one JSON object per
// line, as Claude Code prints it with --output-format stream-json --verbose (all facts
// here were observed with versions 2.1.197 and 2.1.330).
//
// The names of the events do not depend on the program, so callers of this package do not
// need to know which program produced the stream. Backends for other programs produce the
// same [Event].
//
//	reader -> line -> members of the object -> Event
//	            \--no JSON object, or longer than the limit -> Event of kind bad
//
// No line ends a stream early, regardless of its contents. A line that is not JSON, too
// long, of an unknown type, or cut off at the end of the stream also becomes an event and
// is counted in [Stats]. The decoder then reads the next line.
//
// # Interpretation of a line
//
// A line is interpreted the way encoding/json interprets it when decoding into a map:
// keys can be in any order and are compared exactly, the last of several equal keys wins,
// and bytes that are not valid UTF-8 become U+FFFD. If a field is missing or has an
// unexpected type, its value is zero, but the other fields are still read. The package
// has its own parser, because encoding/json is five to ten times slower. A fuzz test
// compares the two.
//
// # Keeping events
//
// A caller can keep the strings of an event. The next call to [Decoder.Next] may reuse
// all other memory (Raw, Input, the slices and the targets of the pointers);
// [Event.Clone] makes a copy to keep. Short strings share memory with their neighbors,
// so clone a string with [strings.Clone] before keeping it for hours. Otherwise the
// string keeps up to 4 KiB in memory.
//
// # Bounds
//
// The decoder keeps at most maxLine bytes of each line, from its beginning. It also cuts
// the text of a tool result and the output of a hook to at most [MaxResult] bytes each.
// It keeps the beginning and the end, with a note between them that states the number of
// bytes cut. Text from the model is never cut.
package streamjson
