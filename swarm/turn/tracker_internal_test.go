package turn

import (
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/claude"
)

// A listener is a feed that records everything it receives.
type listener struct{ partial, raw []string }

func (*listener) Wants(string) (partial, raw bool) { return true, true }
func (l *listener) Partial(agent, message, text string) {
	l.partial = append(l.partial, agent+" "+message+": "+text)
}
func (l *listener) Raw(agent, message, line string) { l.raw = append(l.raw, line) }

// The log quotes the first lines of a turn that are not messages, because one of them may
// contain the answer for which the turn waits.
func TestTheLogQuotesLinesThatAreNotMessages(t *testing.T) {
	home := journal.HomeOf(t.TempDir())
	if err := home.Make(); err != nil {
		t.Fatal(err)
	}
	agentLog := journal.OpenAgentLog(home, "coder", journal.LogPolicy{}, func(time.Time, string, string) {}, func(err error) { t.Error(err) })
	lines := &unreadable{log: agentLog, message: "m"}
	lines.event(&streamjson.Event{Kind: streamjson.KindBad, Raw: []byte("Flushing\x1b[31m...{\"jsonrpc\"")})
	lines.event(&streamjson.Event{Kind: streamjson.KindBad, Raw: []byte("xxx"), Lost: 9997})
	for range 1000 {
		lines.event(&streamjson.Event{Kind: streamjson.KindBad, Raw: []byte("debug")})
	}
	agentLog.Close()
	data, err := os.ReadFile(home.AgentLog("coder"))
	if err != nil {
		t.Fatal(err)
	}
	log := string(data)
	for part, want := range map[string]int{`Flushing`: 1, "\x1b": 0, "a line of 10,000 bytes": 1, "debug": 1, "more such lines": 1} {
		if n := strings.Count(log, part); n != want {
			t.Errorf("the log has %q %d times, want %d:\n%s", part, n, want, log)
		}
	}
}

// A feed receives the agent's text while the agent is writing it, but neither thinking
// nor the text of sub-agents. It also receives every line that the client prints.
func TestTheFeedOfATurn(t *testing.T) {
	home := journal.HomeOf(t.TempDir())
	if err := home.Make(); err != nil {
		t.Fatal(err)
	}
	sessions, err := journal.OpenSessions(home)
	if err != nil {
		t.Fatal(err)
	}
	heard := new(listener)
	deps := &Deps{
		Home: home, Sessions: sessions, Backends: map[string]runner.Backend{"claude": claude.New(claude.Options{})}, Feed: heard,
		Note: func(err error) {
			if err != nil {
				t.Error(err)
			}
		},
	}
	log := slog.New(slog.DiscardHandler)
	agentLog := journal.OpenAgentLog(home, "coder", journal.LogPolicy{}, func(time.Time, string, string) {}, func(err error) { t.Error(err) })
	defer agentLog.Close()
	turns := NewTurns(deps, "coder", log, agentLog, NewSecrets(home.Secrets()), func() {})
	mem, err := openMemory(home, claude.Kind().Tools, "coder", 1<<10, log)
	if err != nil {
		t.Fatal(err)
	}
	follow := turns.track(Settings{Backend: "claude"}, mem, &journal.Record{Turn: "m-1", Message: "m"}, nil, nil)
	for i, b := range []streamjson.Block{
		{Kind: streamjson.BlockText, Text: "hello"}, {Kind: streamjson.BlockThinking, Text: "hm"}, {Kind: streamjson.BlockText, Text: "from below"},
	} {
		ev := &streamjson.Event{Kind: streamjson.KindPartial, Blocks: []streamjson.Block{b}, Raw: []byte("line")}
		if i == 2 {
			ev.Parent = "task1"
		}
		follow.event(ev)
	}
	if !slices.Equal(heard.partial, []string{"coder m: hello"}) || len(heard.raw) != 3 {
		t.Errorf("the listener gets %q and %q, want hello and three lines", heard.partial, heard.raw)
	}
}

// When the status says that there was a compaction, the text that it removed is on the disk: what
// was in the window before the event, although the prompt gave back the text of an earlier one.
func TestACompactionIsSavedBeforeItIsShown(t *testing.T) {
	home := journal.HomeOf(t.TempDir())
	if err := home.Make(); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	agentLog := journal.OpenAgentLog(home, "coder", journal.LogPolicy{}, func(time.Time, string, string) {}, func(err error) { t.Error(err) })
	defer agentLog.Close()
	var saved []string
	turns := NewTurns(&Deps{
		Home: home, Backends: map[string]runner.Backend{"claude": claude.New(claude.Options{})}, Feed: new(listener),
		ContextSized: func(string, string, journal.Context) {
			data, err := os.ReadFile(home.PendingFile("coder"))
			if err != nil {
				t.Error(err)
			}
			saved = append(saved, string(data))
		},
		Note: func(err error) {
			if err != nil {
				t.Error(err)
			}
		},
	}, "coder", log, agentLog, NewSecrets(home.Secrets()), func() {})
	mem, err := openMemory(home, claude.Kind().Tools, "coder", 1<<10, log)
	if err != nil {
		t.Fatal(err)
	}
	if err := mem.setPending([]byte("an earlier one")); err != nil {
		t.Fatal(err)
	}
	follow := turns.track(Settings{Backend: "claude"}, mem, &journal.Record{Turn: "m-1", Message: "m"}, nil, nil)
	follow.prompt.reinjected = true
	for _, ev := range []*streamjson.Event{
		{Kind: streamjson.KindAssistant, Blocks: []streamjson.Block{{Kind: streamjson.BlockText, Text: "before"}}},
		{Kind: streamjson.KindCompact},
		{Kind: streamjson.KindAssistant, Blocks: []streamjson.Block{{Kind: streamjson.BlockText, Text: "after"}}},
	} {
		follow.event(ev)
	}
	if len(saved) != 1 || !strings.Contains(saved[0], "before") || strings.Contains(saved[0], "earlier") || strings.Contains(saved[0], "after") {
		t.Errorf("saved %q, want what was in the window before the compaction", saved)
	}
}

func TestRetryWhy(t *testing.T) {
	for name, c := range map[string]struct {
		ev   streamjson.Event
		want string
	}{
		"another event":  {streamjson.Event{Kind: streamjson.KindAssistant}, ""},
		"without a word": {streamjson.Event{Kind: streamjson.KindRetry}, ""},
		"no answer":      {streamjson.Event{Kind: streamjson.KindRetry, Retry: &streamjson.Retry{Attempt: 7, Max: 10}}, "the API is not answering (retry 7 of 10)"},
		"another kind":   {streamjson.Event{Kind: streamjson.KindAssistant, Retry: &streamjson.Retry{Attempt: 7, Max: 10}}, ""},
	} {
		if got := retryWhy(&c.ev); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := retryWhy(&streamjson.Event{Kind: streamjson.KindRetry, Retry: &streamjson.Retry{Status: 529, Attempt: 1, Max: 10}}); !strings.HasPrefix(got, "the API answers ") {
		t.Errorf("an answer with an error: %q", got)
	}
}
