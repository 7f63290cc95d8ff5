package mail

import "strings"

// cut keeps the beginning of a text, whole runes.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// Beginning is as much of a text as is told of it.
func Beginning(text string) string { return cut(text, maxReason) }
