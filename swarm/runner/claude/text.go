package claude

import "strings"

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t = strings.TrimSpace(t); t != "" {
			return t
		}
	}
	return ""
}

// contains reports whether text contains words, ignoring case. words must be in
// lowercase.
func contains(text, words string) bool {
	return strings.Contains(strings.ToLower(text), words)
}
