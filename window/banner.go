package window

import (
	"bytes"
	"strconv"
)

// What stands around a window that is given back, word for word as the document
// that asked for the window has it.
const (
	bannerOpen  = "<prior-context>\n════════════════════ RECENT HISTORY ("
	bannerLead  = " tokens) ════════════════════\nThe following is your raw conversation history from before context\ncompaction. Use it to recall what you were just working on.\nDo NOT re-execute completed work.\n═════════════════════════════════════════════════════════════════════\n\n"
	bannerClose = "\n\n═══════════════════════ END RECENT HISTORY ════════════════════════\n</prior-context>\n"
)

// Banner appends to dst the block that gives body back in a prompt, and says
// that it has so many tokens. body is unchanged, but for newlines at its end.
func Banner(dst []byte, tokens int, body []byte) []byte {
	dst = append(dst, bannerOpen...)
	dst = strconv.AppendInt(dst, int64(tokens), 10)
	dst = append(dst, bannerLead...)
	dst = AppendQuoted(dst, bytes.TrimRight(body, "\n"))
	return append(dst, bannerClose...)
}
