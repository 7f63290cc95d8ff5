package window

import (
	"bytes"
	"unicode"
)

// What ends a frame around a window: the tags of our own and of the frame that Claude
// Code puts around what a hook says, and the lines of the banner.
var (
	frameTags  = [][]byte{[]byte("prior-context"), []byte("system-reminder")}
	frameTitle = []byte("RECENT HISTORY")
	frameEnd   = []byte("END ")
	frameRule  = []byte("═")
)

// AppendQuoted appends a text of which nothing ends the frame around it: a tag of a
// frame gets a backslash after its <, in whatever case and with whatever spaces, and a
// title of the banner one before it. What has backslashes there already gets one more,
// so that it can be told what the text was.
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

// nextTag finds the place after the < of the next tag of a frame, and where to look on;
// the length of the text when there is none.
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

// isFrameTag looks at what follows a <.
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

// nextTitle finds the next title between the rules of the banner, and where to look
// on; the length of the text when there is none.
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
