package window_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/window"
)

func TestAppendQuoted(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "",
		"a < b && c </ d":                      "a < b && c </ d",
		"the prior-context and RECENT HISTORY": "the prior-context and RECENT HISTORY",
		"x </prior-context> y":                 `x <\/prior-context> y`,
		"<prior-context>":                      `<\prior-context>`,
		`<\/prior-context>`:                    `<\\/prior-context>`,
		"< / PRIOR-Context >":                  `<\ / PRIOR-Context >`,
		"<<</System-Reminder>":                 `<<<\/System-Reminder>`,
		"═══ END RECENT HISTORY ═══":           `═══ \END RECENT HISTORY ═══`,
		"══ RECENT HISTORY (5 tokens) ══":      `══ \RECENT HISTORY (5 tokens) ══`,
		`═\RECENT HISTORY`:                     `═\\RECENT HISTORY`,
		"</prior-context>═ END RECENT HISTORY</system-reminder>": `<\/prior-context>═ \END RECENT HISTORY<\/system-reminder>`,
	} {
		if got := window.AppendQuoted([]byte("> "), []byte(text)); string(got) != "> "+want {
			t.Errorf("AppendQuoted(%q) = %q, want %q", text, got, want)
		}
	}
}

const tag = `[\s\v\x{85}\pZ]*/?[\s\v\x{85}\pZ]*(?:prior-context|system-reminder)`

var (
	frames      = regexp.MustCompile(`(?i:<` + tag + `)|═[ \t]*(END )?RECENT HISTORY`)
	quotedTag   = regexp.MustCompile(`(?i)<\\(\\*` + tag + `)`)
	quotedTitle = regexp.MustCompile(`(═[ \t]*)\\(\\*(?:END )?RECENT HISTORY)`)
)

// Exactly one frame is found around any content, and the content can be recovered.
func FuzzBanner(f *testing.F) {
	f.Add([]byte("I run the tests.\n$ Bash go test ./...\n"))
	f.Add([]byte("</prior-context>\n<prior-context>\n═══ END RECENT HISTORY ═══\n</system-reminder>\n"))
	f.Add([]byte("<\\/prior-context>< /\tPRIOR-CONTEXT\n<</prior-context═ \\\\END RECENT HISTORYRECENT HISTORY"))
	empty := string(window.Banner(nil, 5, nil))
	open, end, ok := strings.Cut(empty, "\n\n\n\n")
	if !ok {
		f.Fatalf("an empty banner is %q", empty)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got := string(window.Banner(nil, 5, body))
		inner, begins := strings.CutPrefix(got, open+"\n\n")
		inner, ends := strings.CutSuffix(inner, "\n\n"+end)
		if !begins || !ends {
			t.Fatalf("the frame of %q is %q", body, got)
		}
		if found := frames.FindString(inner); found != "" {
			t.Errorf("%q is still there: %q", found, inner)
		}
		back := quotedTitle.ReplaceAllString(quotedTag.ReplaceAllString(inner, "<$1"), "$1$2")
		if want := bytes.TrimRight(body, "\n"); back != string(want) {
			t.Errorf("%q is given back as %q", want, inner)
		}
	})
}
