package window

import (
	"bytes"
	"strconv"
)

// The frame around a window that is returned to the client. The wording comes from the
// project's first document.
const (
	bannerOpen  = "<prior-context>\n════════════════════ RECENT HISTORY ("
	bannerLead  = " tokens) ════════════════════\nThe following is your raw conversation history from before context\ncompaction. Use it to recall what you were just working on.\nDo NOT re-execute completed work.\n═════════════════════════════════════════════════════════════════════\n\n"
	bannerClose = "\n\n═══════════════════════ END RECENT HISTORY ════════════════════════\n</prior-context>\n"
)

// Banner appends to dst the block that returns body to the client in a prompt. tokens is
// the number of tokens that the block states. Banner removes the newlines at the end of
// body and quotes it with [AppendQuoted].
func Banner(dst []byte, tokens int, body []byte) []byte {
	dst = append(dst, bannerOpen...)
	dst = strconv.AppendInt(dst, int64(tokens), 10)
	dst = append(dst, bannerLead...)
	dst = AppendQuoted(dst, bytes.TrimRight(body, "\n"))
	return append(dst, bannerClose...)
}
