// Package window keeps the latest words and actions of an agent, and gives them back to
// the agent when its own memory is compacted.
//
// The buffer keeps readable text. Each piece of text, each call and each result is one
// entry, which ends with a newline:
//
//	I run the tests.
//	$ Bash go test ./...
//	✗ Bash: FAIL mail 0.034s
//	$ Read mail/store.go
//	→ Read: package mail …
//
//	              evicted              kept                 comes next
//	 0 ─────────────────────────┬───────────────────────┬──────────────▶ bytes
//	                          Start                    End
//
// A position is the number of bytes rendered before it since the window began, including
// evicted bytes. Rendering depends only on the entry and on [Options].MaxResult, and
// eviction changes no position. So a position refers to the same bytes in two processes
// that begin with the same file, have the same MaxResult, and add the same entries.
//
// The size of a window, in bytes, is limited. It evicts whole entries, oldest first. If
// one entry alone is longer than the window, only the entry's end is kept.
//
// # What is cut
//
// Base64 has two and a half times as many tokens as bytes/4 suggests, and no model reads
// it: only the beginning of a run of at least 256 bytes is kept. Results and calls that
// are too long lose their middle. The note "[… 12,345 bytes cut …]" replaces each part
// that was cut.
package window
