package fakeapi

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
)

// Kind is the kind of a request. It distinguishes the client's own small requests, which
// must not use up the script, from the others.
type Kind string

// The kinds. The last four are for endpoints other than /v1/messages, and for requests that
// cannot be parsed (Unknown). No reply matches them.
const (
	Main    Kind = "main"    // a turn of the conversation, or of a sub-agent
	Compact Kind = "compact" // the client requests a summary of the conversation
	Side    Kind = "side"    // the client does a small task for itself, such as generating a title
	Quota   Kind = "quota"   // a probe: one word, one token

	CountTokens Kind = "count_tokens"
	Models      Kind = "models"
	Probe       Kind = "probe"
	Unknown     Kind = "unknown"
)

const anyKind Kind = "any" // valid only in a Match

func (k Kind) known() bool {
	switch k {
	case "", anyKind, Main, Compact, Side, Quota:
		return true
	}
	return false
}

// query contains the parts of a request that are needed for matching, parsed once.
type query struct {
	kind      Kind
	model     string
	stream    bool
	messages  int
	system    string
	text      string // text of the last user message, without reminders
	result    string // tool results in the last user message
	hasResult bool
	tools     map[string]bool
	raw       []byte
	header    http.Header
}

// These match text that Claude Code 2.1.197 puts in its requests. Since version 2.1.332 a
// Stop hook's reason, which used to be the user's text, is in a reminder. It still is what
// the model is asked, so it belongs to the text.
var (
	feedback = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?s)<system-reminder>\n(The text below is the output of a hook[^\n]*\nStop hook feedback:.*?)</system-reminder>`)
	})
	reminder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s)<system-reminder>.*?</system-reminder>\s*`) })
	sideTask = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(session|conversation|short|concise|sentence-case) title\b|generate a [a-z -]*title|new (conversation )?topic|isNewTopic`)
	})
	compactPrompt = "Your task is to create a detailed summary of"
)

// parseQuery parses the body of a Messages request.
func parseQuery(body []byte, header http.Header) (*query, error) {
	var in struct {
		Model     string          `json:"model"`
		MaxTokens int             `json:"max_tokens"`
		Stream    bool            `json:"stream"`
		System    json.RawMessage `json:"system"`
		Messages  []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	q := &query{
		model: in.Model, stream: in.Stream, messages: len(in.Messages), raw: body, header: header,
		tools: make(map[string]bool, len(in.Tools)),
	}
	q.system, _, _ = flatten(in.System)
	for _, t := range in.Tools {
		q.tools[t.Name] = true
	}
	for i := len(in.Messages) - 1; i >= 0; i-- {
		if m := in.Messages[i]; m.Role == "user" {
			q.text, q.result, q.hasResult = flatten(m.Content)
			q.text = feedback().ReplaceAllString(q.text, "$1")
			q.text = reminder().ReplaceAllString(q.text, "")
			break
		}
	}
	switch {
	case strings.Contains(q.text, compactPrompt):
		q.kind = Compact
	case in.MaxTokens == 1:
		q.kind = Quota
	case len(in.Tools) == 0 && (sideTask().MatchString(q.system) || sideTask().MatchString(q.text)):
		q.kind = Side
	default:
		q.kind = Main
	}
	return q, nil
}

// flatten returns the text in a content field, which is a string or a list of blocks, and
// the text of its tool results.
func flatten(content json.RawMessage) (text, result string, hasResult bool) {
	if len(content) == 0 || json.Unmarshal(content, &text) == nil {
		return text, "", false
	}
	var blocks []struct {
		Type    string          `json:"type"`
		Text    string          `json:"text"`
		Content json.RawMessage `json:"content"`
	}
	if json.Unmarshal(content, &blocks) != nil {
		return "", "", false
	}
	var texts, results []string
	for _, b := range blocks {
		switch b.Type {
		case "text":
			texts = append(texts, b.Text)
		case "tool_result":
			inner, _, _ := flatten(b.Content)
			results = append(results, inner)
		}
	}
	return strings.Join(texts, "\n"), strings.Join(results, "\n"), len(results) > 0
}

// maxBody is the maximum size of a request body, in bytes.
const maxBody = 64 << 20

// readBody reads the body, which the client may have compressed. It returns an error if
// the body is larger than maxBody.
func readBody(r *http.Request) ([]byte, error) {
	src := http.MaxBytesReader(nil, r.Body, maxBody)
	if r.Header.Get("Content-Encoding") != "gzip" {
		return io.ReadAll(src)
	}
	zr, err := gzip.NewReader(src)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(http.MaxBytesReader(nil, zr, maxBody))
}
