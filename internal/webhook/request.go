package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf16"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// These are size limits for the text that a webhook posts, unless it is a generic webhook.
// Slack truncates text at 40,000 characters and recommends fewer than 4,000; Discord rejects
// text of more than 2,000; ntfy turns text of more than 4,096 bytes into an attachment.
const (
	maxSlack   = 3000 // bytes
	maxDiscord = 2000 // UTF-16 code units; their number is never less than the number of characters that Discord counts
	maxNtfy    = 3500 // bytes
)

// request returns the HTTP request for one attempt. id must be the same in all attempts
// to post one message.
func (h Hook) request(ctx context.Context, id string, body []byte, at time.Time) (*http.Request, error) {
	p, err := decode(body)
	if err != nil {
		return nil, err
	}
	header := http.Header{}
	header.Set("User-Agent", "claude-swarm")
	header.Set("Content-Type", "application/json")
	switch h.Kind {
	case Slack:
		body = asJSON(map[string]any{"text": cut(slackText().Replace(p.lines()), maxSlack), "mrkdwn": false, "unfurl_links": false, "unfurl_media": false})
	case Discord:
		// The flag 4 suppresses link previews.
		body = asJSON(map[string]any{"content": cutUTF16(discordText().Replace(p.lines()), maxDiscord), "allowed_mentions": map[string]any{"parse": []string{}}, "flags": 4})
	case Ntfy:
		priority, tag := ntfyLook(p.Data.Severity)
		header.Set("Content-Type", "text/plain; charset=utf-8")
		// A header may contain only ASCII, so the title is encoded according to RFC 2047,
		// which ntfy decodes.
		header.Set("Title", mime.BEncoding.Encode("utf-8", p.Data.Project+": "+strings.ReplaceAll(string(p.Type), "_", " ")))
		header.Set("Priority", priority)
		header.Set("Tags", tag)
		if h.Secret != "" {
			header.Set("Authorization", "Bearer "+h.Secret)
		}
		body = []byte(cut(p.lines(), maxNtfy))
	default:
		header.Set(standardwebhooks.HeaderWebhookID, id)
		header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(at.Unix(), 10))
		if h.Secret != "" {
			w, err := standardwebhooks.NewWebhook(h.Secret)
			if err != nil {
				return nil, fmt.Errorf("the secret is not base64")
			}
			signature, err := w.Sign(id, at, body)
			if err != nil {
				return nil, err
			}
			header.Set(standardwebhooks.HeaderWebhookSignature, signature)
		}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("the URL cannot be used")
	}
	r.Header = header
	return r, nil
}

// lines returns a payload as text for a person: its text, followed by its details unless
// they repeat the text.
func (p Payload) lines() string {
	lines := p.Data.Text
	if d := p.Data.Details; d != "" && !strings.Contains(p.Data.Text, screen.OneLine(d)) {
		lines += "\n" + d
	}
	return lines
}

// slackText returns a replacer that escapes text for Slack, which marks up people,
// channels and links as <…>.
var slackText = sync.OnceValue(func() *strings.Replacer { return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;") })

// discordText returns a replacer that escapes text for Discord's Markdown.
var discordText = sync.OnceValue(func() *strings.Replacer {
	var pairs []string
	for _, c := range "\\`*_~|[]()<>#" {
		pairs = append(pairs, string(c), `\`+string(c))
	}
	return strings.NewReplacer(pairs...)
})

// ntfyLook returns the priority and the tag for a severity in ntfy. The priorities are 1
// to 5, and 3 is the default.
func ntfyLook(s journal.Severity) (priority, tag string) {
	switch s {
	case journal.Error:
		return "5", "rotating_light"
	case journal.Warning:
		return "4", "warning"
	}
	return "3", "information_source"
}

func asJSON(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings and numbers can always be encoded
	}
	return data
}

// cutUTF16 shortens a string to at most the given number of UTF-16 code units. It does
// not split an escape sequence that [discordText] has added.
func cutUTF16(s string, most int) string {
	units, end := 0, 0
	for i, c := range s {
		n := utf16.RuneLen(c)
		if units+n > most {
			s = s[:end]
			if marks := len(s) - len(strings.TrimRight(s, `\`)); marks%2 == 1 {
				s = s[:len(s)-1]
			}
			return s + "…"
		}
		if units += n; units < most { // leaves room for the ellipsis
			end = i + len(string(c))
		}
	}
	return s
}

// Host returns the host of the URL, or "" if the URL has none. No other part of the URL
// may be shown.
func (h Hook) Host() string {
	u, err := url.Parse(h.URL)
	if err != nil {
		return ""
	}
	return u.Host
}
