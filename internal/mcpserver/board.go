package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/board"
)

// boardPages gives one caller access to the board.
type boardPages struct {
	board.Board
	me     string                   // the caller
	redact func(text string) string // removes the project's tokens from a string
}

func boardOf(c *call) boardPages {
	redact := func(text string) string { return c.Home.Secrets().Redactor().Text(text) }
	return boardPages{board.Of(c.Store.Dir()), c.Me.Name, redact}
}

type boardReadArguments struct {
	Page string `json:"page,omitempty" jsonschema:"status, decisions or handoff/AGENT; default: a list of the pages"`
}

type boardWriteArguments struct {
	Page string `json:"page" jsonschema:"status, decisions or handoff"`
	Text string `json:"text" jsonschema:"in Markdown"`
	Mode string `json:"mode,omitempty" jsonschema:"default: append for decisions, otherwise replace" enum:"append,replace"`
}

// A page is the result of the board tools.
type page struct {
	Page    string   `json:"page,omitempty"`
	Text    string   `json:"text,omitempty"`
	Changed string   `json:"changed,omitempty"`
	Bytes   int      `json:"bytes,omitempty" jsonschema:"its length, at most 32768"`
	Pages   []string `json:"pages,omitempty" jsonschema:"the existing ones"`
	Note    string   `json:"note,omitempty"`
}

// name returns the full name of a page. The name handoff means the caller's handoff page.
func (b boardPages) name(name string) string {
	name = strings.TrimSuffix(name, ".md")
	if name == "handoff" {
		return board.Handoff(b.me)
	}
	return name
}

func (b boardPages) read(_ context.Context, in boardReadArguments) (*page, error) {
	if in.Page == "" {
		pages, err := b.List()
		p := &page{Pages: pages}
		if err == nil && len(pages) == 0 {
			p.Note = "Nothing has been written on the board yet."
		}
		return p, err
	}
	name := b.name(in.Page)
	got, err := b.Read(name)
	if errors.Is(err, board.ErrNoPage) {
		return &page{Page: name, Note: "Nobody has written this page yet."}, nil
	} else if err != nil {
		return nil, err
	}
	return shown(got), nil
}

func shown(p board.Page) *page {
	return &page{Page: p.Name, Text: p.Text, Changed: stamp(p.Changed), Bytes: len(p.Text)}
}

func (b boardPages) write(_ context.Context, in boardWriteArguments) (*page, error) {
	name := b.name(in.Page)
	if owner, ok := strings.CutPrefix(name, "handoff/"); ok && owner != b.me && b.me != dropbox.Lead {
		return nil, fmt.Errorf("only %[2]s may write the page %[1]s; send a message instead", name, owner)
	}
	if strings.TrimSpace(in.Text) == "" && in.Mode != "replace" {
		return nil, errors.New("the text is empty")
	}
	in.Text = b.redact(in.Text)
	var got board.Page
	var err error
	if in.Mode == "append" || in.Mode == "" && name == board.Decisions {
		got, err = b.Append(name, in.Text, b.me, time.Now())
	} else {
		got, err = b.Replace(name, in.Text)
	}
	if err != nil {
		return nil, err
	}
	written := shown(got)
	written.Text, written.Note = "", "Written. All agents can read it; it wakes nobody."
	return written, nil
}

func (p *page) readable() string {
	var t text
	switch {
	case p.Pages != nil:
		t.line("Pages: %s.", strings.Join(p.Pages, ", "))
	case p.Changed != "":
		t.line("%s, changed %s, %d bytes", p.Page, p.Changed, p.Bytes)
	}
	if p.Text != "" {
		t.line("")
		t.line("%s", strings.TrimRight(p.Text, "\n"))
	}
	t.remark(p.Note)
	return t.String()
}
