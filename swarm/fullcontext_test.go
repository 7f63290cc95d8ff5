package swarm_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
)

// contextNotices returns the figures in the notices about a context that is nearly full.
func (f *field) contextNotices() (figures []string) {
	f.t.Helper()
	for _, text := range f.noticeTexts() {
		if rest, ok := strings.CutPrefix(text, "[CONTEXT] coder has used "); ok {
			figure, _, _ := strings.Cut(rest, ".")
			figures = append(figures, figure)
		}
	}
	return figures
}

// People are told once that an agent's context is nearly full, and again only after it was
// not. A restart of the daemon does not repeat it.
func TestAFullContextIsToldOnce(t *testing.T) {
	const full, fuller, low = "@context 170000\n@say a", "@context 190000\n@say b", "@context 12000\n@say c"
	restart := func(f *field) { f.halt(); f.start() }
	work := func(script string) func(*field) {
		return func(f *field) { f.answer(f.send("coder", script)) }
	}
	at := func(percent, tokens string) string {
		return percent + " % of its context: " + tokens + " of 200,000 tokens"
	}
	for name, row := range map[string]struct {
		plan func(*field)
		do   []func(*field)
		want []string
	}{
		"a small context":          {do: []func(*field){work(low)}},
		"80 percent, and no more":  {do: []func(*field){work("@context 160000\n@say a")}},
		"more than 80 percent":     {do: []func(*field){work("@context 160001\n@say a")}, want: []string{at("80", "160,001")}},
		"it stays full":            {do: []func(*field){work(full), work(fuller), work(full)}, want: []string{at("85", "170,000")}},
		"it stays full, restarted": {do: []func(*field){work(full), restart, work(fuller)}, want: []string{at("85", "170,000")}},
		"it falls":                 {do: []func(*field){work(full), work(low), work(fuller)}, want: []string{at("85", "170,000"), at("95", "190,000")}},
		"it falls, restarted":      {do: []func(*field){work(full), work(low), restart, work(fuller)}, want: []string{at("85", "170,000"), at("95", "190,000")}},
		"it falls in one turn":     {do: []func(*field){work(low), work(full + "\n" + low + "\n" + fuller)}, want: []string{at("85", "170,000"), at("95", "190,000")}},
		"it is compacted":          {do: []func(*field){work(low), work(full + "\n@compact\n" + fuller)}, want: []string{at("85", "170,000"), at("95", "190,000")}},
		"it is cleared": {
			do: []func(*field){work(full), func(f *field) {
				f.must(f.daemon.Clear("coder", dropbox.Lead))
				f.until("the context is cleared", func() bool { return f.status("coder").Session == "" })
			}, work(fuller)},
			want: []string{at("85", "170,000"), at("95", "190,000")},
		},
		"each message has a new session": {
			plan: func(f *field) { f.plan.Agents[0].Session = turn.SessionFresh },
			do:   []func(*field){work(full)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T) {
				f := newField(t, "coder")
				if row.plan != nil {
					row.plan(f)
				}
				f.start()
				for _, do := range row.do {
					do(f)
				}
				f.halt()
				if got := f.contextNotices(); !slices.Equal(got, row.want) {
					t.Errorf("told %q, want %q", got, row.want)
				}
			})
		})
	}
}

// claudeCompacts is a backend that compacts and is called claude.
type claudeCompacts struct{ compacts }

func (c claudeCompacts) Kind() *runner.Kind {
	kind := *c.compacts.Kind()
	kind.Name = "claude"
	return &kind
}

// The notice and the status name the commands that the agent's client obeys, and the
// status names none as soon as the size of the context is unknown or small.
func TestAFullContextSaysWhatToType(t *testing.T) {
	for name, row := range map[string]struct {
		set        func(*field)
		next, text string
	}{
		"a client that compacts": {
			func(f *field) { f.clients, f.plan.Agents[0].Backend = claudeCompacts{compacts{f.backend}}, "claude" },
			"claude-swarm compact coder", "To make room: claude-swarm compact coder, or claude-swarm clear coder.",
		},
		"a client that does not": {func(*field) {}, "claude-swarm clear coder", "To make room: claude-swarm clear coder."},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				f := newField(t, "coder")
				row.set(f)
				f.start()
				f.answer(f.send("coder", "@context 170000\n@say a"))
				if got := f.status("coder"); got.ContextNext != row.next || got.Context.Percent() != 85 {
					t.Errorf("status: next %q at %d %%, want %q at 85 %%", got.ContextNext, got.Context.Percent(), row.next)
				}
				f.answer(f.send("coder", "@context 170000\n@say a\n@compact"))
				if got := f.status("coder"); got.ContextNext != "" || got.Context.Percent() != -1 {
					t.Errorf("after a compaction: next %q at %d %%, want an unknown size", got.ContextNext, got.Context.Percent())
				}
				f.halt()
				i := slices.IndexFunc(f.notices(), func(ev journal.Event) bool { return ev.Word() == journal.ContextFull })
				if i < 0 {
					t.Fatalf("nobody was told: %q", f.noticeTexts())
				}
				if text := f.notices()[i].Notice.Text(); !strings.HasSuffix(text, row.text) {
					t.Errorf("told %q, want the end %q", text, row.text)
				}
			})
		})
	}
}
