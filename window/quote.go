package window

import (
	"bytes"
	"unicode"
)

// The strings that could end the frame around a window: the tags of this package's frame
// and of the frame that Claude Code puts around hook output, and the lines of the banner.
var (
	frameTags  = [][]byte{[]byte("prior-context"), []byte("system-reminder")}
	frameTitle = []byte("RECENT HISTORY")
	frameEnd   = []byte("END ")
	frameRule  = []byte("═")
)

// AppendQuoted appends text in a form that cannot end the frame around it. It adds a
// backslash after the < of a frame tag, which may be in upper or lower case and contain
// spaces, and before a banner title. If backslashes are already present, AppendQuoted
// adds another one, so that the original text can be recovered.
func AppendQuoted(dst, text []byte) []byte {
	done := 0
	tag, tagNext := nextTag(text, 0)
	title, titleNext := nextTitle(text, 0)
	for tag < len(text) || title < len(text) {
		at := min(tag, title)
		dst = append(append(dst, text[done:at]...), '\\')
		done = at
		if at == tag {
			tag, tagNext = nextTag(text, tagNext)
		} else {
			title, titleNext = nextTitle(text, titleNext)
		}
	}
	return append(dst, text[done:]...)
}

// nextTag returns the position after the < of the next frame tag, and the position at
// which to continue the search. Both are the length of the text if no tag follows.
func nextTag(text []byte, from int) (at, next int) {
	for i := from; ; {
		found := bytes.IndexByte(text[i:], '<')
		if found < 0 {
			return len(text), len(text)
		}
		i += found + 1
		if isFrameTag(text[i:]) {
			return i, i
		}
	}
}

// isFrameTag reports whether the text after a < is a frame tag.
func isFrameTag(rest []byte) bool {
	rest = bytes.TrimLeft(rest, `\`)
	rest = bytes.TrimLeftFunc(rest, unicode.IsSpace)
	rest = bytes.TrimPrefix(rest, []byte("/"))
	rest = bytes.TrimLeftFunc(rest, unicode.IsSpace)
	for _, tag := range frameTags {
		if len(rest) >= len(tag) && bytes.EqualFold(rest[:len(tag)], tag) {
			return true
		}
	}
	return false
}

// nextTitle returns the position of the next title between the banner's rules, and the
// position at which to continue the search. Both are the length of the text if no title
// follows.
func nextTitle(text []byte, from int) (at, next int) {
	for i := from; ; {
		found := bytes.Index(text[i:], frameTitle)
		if found < 0 {
			return len(text), len(text)
		}
		before := bytes.TrimSuffix(text[:i+found], frameEnd)
		before = bytes.TrimRight(before, `\`)
		i += found + len(frameTitle)
		if bytes.HasSuffix(bytes.TrimRight(before, " \t"), frameRule) {
			return len(before), i
		}
	}
}
