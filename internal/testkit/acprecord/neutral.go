package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// neutral returns the text of a recording with the parts that differ between runs
// replaced by fixed values.
func neutral(lines []line, names map[string]string) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	for _, l := range lines {
		l.Msg = shorten(l.Msg)
		if err := enc.Encode(l); err != nil {
			return nil, err
		}
	}
	text := out.String()
	longest := make([]string, 0, len(names))
	for name := range names {
		longest = append(longest, name)
	}
	slices.SortFunc(longest, func(a, b string) int { return len(b) - len(a) })
	for _, name := range longest {
		text = strings.ReplaceAll(text, name, names[name])
		if trimmed := strings.TrimPrefix(name, "/"); trimmed != name { // opencode shows paths in this form
			text = strings.ReplaceAll(text, trimmed, strings.TrimPrefix(names[name], "/"))
		}
	}
	for _, id := range ids {
		seen := map[string]string{}
		text = id.pattern.ReplaceAllStringFunc(text, func(found string) string {
			if id.same {
				return id.form
			}
			if seen[found] == "" {
				seen[found] = fmt.Sprintf(id.form, len(seen)+1)
			}
			return seen[found]
		})
	}
	return []byte(text), nil
}

// ids contains the patterns of ids and times in the clients' messages. If a replacement
// contains a formatting verb, each distinct id gets its own number.
var ids = []struct {
	pattern *regexp.Regexp
	form    string
	same    bool
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "00000000-0000-4000-8000-%012d", false},
	{regexp.MustCompile(`ses_[0-9A-Za-z]{26}`), "ses_%026d", false},
	{regexp.MustCompile(`(msg|prt)_[0-9A-Za-z]{26}`), "msg_%026d", false},
	{regexp.MustCompile(`1[0-9]{12}_[0-9A-Za-z_-]{5}_cli`), "1700000000000_%05d_cli", false},
	{regexp.MustCompile(`_1[0-9]{12}_`), "_17000000%05d_", false},
	{regexp.MustCompile(`\b1[0-9]{12}\b`), "17000000%05d", false},
	{regexp.MustCompile(`20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:.]+(Z|[+-][0-9:]{5})`), "2026-01-01T00:00:00.000Z", true},
}

// shorten keeps only the first two entries of the long lists in which a client describes
// what it offers, and only the beginning of long strings.
func shorten(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			if list, ok := inner.([]any); ok && slices.Contains(offers, key) && len(list) > 2 && !isPermission(list) {
				inner = list[:2]
			}
			v[key] = shorten(inner)
		}
	case []any:
		for i := range v {
			v[i] = shorten(v[i])
		}
	case string:
		if r := []rune(v); len(r) > 2000 {
			return string(r[:2000]) + "…"
		}
	}
	return v
}

var offers = []string{"availableCommands", "availableModels", "options"}

// isPermission reports whether options are the answers to a permission question, not the
// values of a setting. All such answers are kept.
func isPermission(options []any) bool {
	first, _ := options[0].(map[string]any)
	return first["optionId"] != nil
}
