// Package window keeps the latest text and actions of an agent, and returns them to the
// agent when its own context is compacted.
//
// The buffer stores readable text. Each piece of text, each call and each result is one
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
// A position is the number of bytes that were rendered before it since the window was
// created, including evicted bytes. Rendering depends only on the entry and on
// [Options].MaxResult, and eviction does not change positions. A position therefore
// refers to the same bytes in two processes that begin with the same file, have the same
// MaxResult, and add the same entries.
//
// The size of a window in bytes is limited. To stay within the limit, the window evicts
// whole entries, oldest first. If one entry alone is longer than the window, only the
// entry's end is kept.
//
// # Cuts
//
// Base64 has 2.5 times as many tokens as bytes/4 suggests and is not useful to a model,
// so only the beginning of a run of at least 256 bytes is kept. The middle of a result or
// call that is too long is removed. The note "[… 12,345 bytes cut …]" replaces each part
// that was cut.
package window
