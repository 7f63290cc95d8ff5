// Package window keeps the last of what an agent said and did, so that it can
// be given back when the agent's own memory is compacted.
//
// The buffer keeps readable text, one entry a text, call or result,
// each ended by one newline:
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
// A position is the number of bytes rendered before it since the window began,
// evicted ones included. Rendering depends on nothing but the entry and the
// limits in [Options] that say so, and eviction changes no position; so two
// processes that begin with the same file and add the same entries mean the
// same bytes by the same position.
//
// A window is bounded in bytes. Whole entries go, the oldest first; of an entry
// that is longer than the window alone its end is kept.
//
// # What is cut
//
// Tokenizers make two and a half times as many tokens of base64 as bytes/4 tells,
// and no model reads it: runs of at least 256 bytes lose all but their
// beginning. Results and calls that are too long lose their middle. Where something
// is missing stands "[… 12,345 bytes cut …]".
package window
