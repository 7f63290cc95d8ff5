package acp_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/testkit/acpstandin"
	"github.com/claude-swarm/claude-swarm/internal/testkit/acptest"
	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// played is the result of a recorded turn that was replayed against the backend.
type played struct {
	End     runner.End
	Text    string // the first 40 bytes
	Calls   int    // of tools
	Tokens  streamjson.Usage
	Asked   int    // number of permission requests with a decision, including those that nobody answered
	Denied  string // the entry in permissions that would allow the denied call
	File    string // the changed file, in the working directory
	Reset   string // when the limit ends, in the format 15:04
	Unknown bool   // the client reported no cause
	Silent  bool   // the client was silent until its turn was stopped
}

// A difference describes how a client behaves differently from the others.
type difference struct {
	why  string
	want played
}

// A record contains the expected result of one recorded row, and the clients whose
// results differ.
type record struct {
	begin func(p *playing) // changes the turn before it runs; can be nil
	want  played
	but   map[string]difference
}

// The scripted model reports 100 input tokens and 10 output tokens for each request.
var one, two = streamjson.Usage{Input: 100, Output: 10}, streamjson.Usage{Input: 200, Output: 20}

// These reasons apply to several rows.
const (
	noTokens   = "reports no tokens"
	lastTokens = "reports only the tokens of the last request"
	noResume   = "has no session/resume, and no session/load in this record"
	retries    = "retries for longer than the recording lasts, without a word"
	noStatus   = "does not report the status of its model's service"
	noReset    = "does not say when the limit ends"
)

// records contains every recorded row.
var records = map[string]record{
	"turn": {
		want: played{End: runner.Done, Text: "hello there", Tokens: one},
		but:  map[string]difference{"cline": {noTokens, played{End: runner.Done, Text: "hello there"}}},
	},
	"shell": {
		begin: (*playing).allows,
		want:  played{End: runner.Done, Text: "It ran.", Calls: 1, Tokens: two, Asked: 1},
		but: map[string]difference{
			"codex":    {"does not ask for what its sandbox allows", played{End: runner.Done, Text: "It ran.", Calls: 1, Tokens: two}},
			"opencode": {lastTokens, played{End: runner.Done, Text: "It ran.", Calls: 1, Tokens: one, Asked: 1}},
			"cline":    {noTokens, played{End: runner.Done, Text: "It ran.", Calls: 1, Asked: 1}},
		},
	},
	"refused": {
		want: played{End: runner.Done, Text: "refused", Calls: 1, Tokens: two, Asked: 1, Denied: "execute rm -rf sub"},
		but: map[string]difference{
			"codex":    {"cancels the turn", played{End: runner.Done, Calls: 1, Tokens: one, Asked: 1, Denied: "execute rm -rf sub"}},
			"opencode": {"ends the turn", played{End: runner.Done, Calls: 1, Tokens: one, Asked: 1, Denied: "execute rm -rf sub"}},
			"copilot":  {"ends the turn", played{End: runner.Done, Calls: 1, Tokens: one, Asked: 1, Denied: "execute rm -rf sub"}},
			"cline":    {noTokens, played{End: runner.Done, Text: "refused", Calls: 1, Asked: 1, Denied: "execute rm -rf sub"}},
		},
	},
	"write": {
		begin: (*playing).allows,
		want:  played{End: runner.Done, Text: "written", Calls: 1, Tokens: two, Asked: 1, File: "new.txt"},
		but: map[string]difference{
			"codex":    {"does not ask for what its sandbox allows", played{End: runner.Done, Text: "written", Calls: 1, Tokens: two, File: "new.txt"}},
			"opencode": {lastTokens, played{End: runner.Done, Text: "written", Calls: 1, Tokens: one, Asked: 1, File: "new.txt"}},
			"cline":    {noTokens, played{End: runner.Done, Text: "written", Calls: 1, Asked: 1, File: "new.txt"}},
		},
	},
	"mcp": {
		begin: func(p *playing) { p.allows(); p.turn.Tools = toolsServer(p.t) },
		want:  played{End: runner.Done, Text: "sent", Calls: 1, Tokens: two},
		but: map[string]difference{
			"opencode": {lastTokens, played{End: runner.Done, Text: "sent", Calls: 1, Tokens: one}},
			"copilot":  {"asks without the name of the server; only an argument of its command, which the recording lacks, keeps it from asking", played{End: runner.Done, Text: "sent", Calls: 1, Tokens: two, Asked: 1}},
			"cline":    {noTokens, played{End: runner.Done, Text: "sent", Calls: 1}},
		},
	},
	"cancel": {
		begin: (*playing).stopsAtWords,
		want:  played{End: runner.Stopped, Text: "begun"},
	},
	"cancel-question": {
		begin: (*playing).stopsAtQuestion,
		want:  played{End: runner.Stopped, Calls: 1, Asked: 1},
		but: map[string]difference{
			"codex":   {"counts the tokens of a cancelled turn", played{End: runner.Stopped, Calls: 1, Asked: 1, Tokens: one}},
			"copilot": {"counts the tokens of a cancelled turn", played{End: runner.Stopped, Calls: 1, Asked: 1, Tokens: one}},
		},
	},
	"resume": {
		begin: (*playing).resumes,
		want:  played{End: runner.Done, Text: "going on", Tokens: one},
		but: map[string]difference{
			"copilot": {noResume, played{End: runner.NoSession}},
			"gemini":  {noResume, played{End: runner.NoSession}},
			"cline":   {noResume, played{End: runner.NoSession}},
		},
	},
	"load": { // we prefer session/resume for codex and opencode, but it is not in the record and is therefore refused
		begin: (*playing).resumes,
		want:  played{End: runner.Done, Text: "going on", Tokens: one},
		but:   map[string]difference{"cline": {noTokens, played{End: runner.Done, Text: "going on"}}},
	},
	"unknown": {
		begin: (*playing).resumes,
		want:  played{End: runner.NoSession},
	},
	"retry": {
		want: played{End: runner.Done, Text: "well again", Tokens: one},
		but:  map[string]difference{"cline": {noTokens, played{End: runner.Done, Text: "well again"}}},
	},
	"limit": {
		want: played{End: runner.Limited, Text: "You’ve hit your usage limit. Upgrade t", Reset: "20:25"},
		but: map[string]difference{
			"copilot":  {noReset, played{End: runner.Limited, Text: "Error: 429 scripted usage limit"}},
			"gemini":   {noReset, played{End: runner.Limited}},
			"opencode": {retries, played{End: runner.Limited, Silent: true}},
			"cline":    {retries, played{End: runner.Limited, Silent: true}},
		},
	},
	"status-400": {
		want: played{End: runner.Failed},
		but: map[string]difference{
			"copilot":  {"says an error as the model would say it", played{End: runner.Failed, Text: "Error: 400 scripted status"}},
			"codex":    {noStatus, played{End: runner.Limited, Text: `{"error":{"message":"scripted status","t`, Unknown: true}},
			"opencode": {noStatus, played{End: runner.Limited, Unknown: true}},
			"cline":    {noStatus, played{End: runner.Limited, Unknown: true}},
		},
	},
	"status-401": {
		want: played{End: runner.BadSetup},
		but: map[string]difference{
			"copilot":  {"says an error as the model would say it", played{End: runner.BadSetup, Text: "Error: Authentication failed with provid"}},
			"opencode": {noStatus, played{End: runner.Limited, Unknown: true}},
			"cline":    {noStatus, played{End: runner.Limited, Unknown: true}},
		},
	},
	"status-429": {
		want: played{End: runner.Limited, Text: "exceeded retry limit, last status: 429 T"},
		but: map[string]difference{
			"copilot":  {"says an error as the model would say it", played{End: runner.Limited, Text: "Error: Failed to get response from the A"}},
			"gemini":   {retries, played{End: runner.Limited, Silent: true}},
			"opencode": {noStatus, played{End: runner.Limited, Unknown: true}},
			"cline":    {noStatus, played{End: runner.Limited, Unknown: true}},
		},
	},
	"status-500": {
		want: played{End: runner.Limited, Text: "We’re currently experiencing high dema"},
		but: map[string]difference{
			"copilot":  {"says an error as the model would say it", played{End: runner.Limited, Text: "Error: Failed to get response from the A"}},
			"gemini":   {retries, played{End: runner.Limited, Silent: true}},
			"opencode": {retries, played{End: runner.Limited, Silent: true}},
			"cline":    {retries, played{End: runner.Limited, Silent: true}},
		},
	},
	"cut": {
		want: played{End: runner.Limited, Text: "begun"},
		but: map[string]difference{
			"codex":    {"says the error as a message", played{End: runner.Limited, Text: "stream disconnected before completion: T"}},
			"copilot":  {"says the words of each attempt, and the error after them", played{End: runner.Limited, Text: "begunbegunbegunbegunbegunbegunError: Fai"}},
			"opencode": {"says the words of each attempt, and then nothing while it retries", played{End: runner.Limited, Text: "begunbegunbegun", Silent: true}},
		},
	},
}

// playing is a recorded turn that is about to be replayed. By default, the turn denies
// all requests and begins a new session; its methods can change that.
type playing struct {
	t      *testing.T
	name   string // the name of the client
	turn   *runner.Turn
	cancel context.CancelFunc // stops the turn
}

func (p *playing) allows() { p.turn.Permit = allow(true) }

// resumes makes the turn resume the session that the recorder resumed.
func (p *playing) resumes() {
	id := "00000000-0000-4000-8000-000000000001"
	if row := filepath.Base(p.t.Name()); row != "unknown" {
		switch acpstandin.Personalities[p.name].IDs {
		case "ses":
			id = "ses_00000000000000000000000001"
		case "cli":
			id = "1700000000000_00001_cli"
		}
	}
	p.turn.Session = runner.Session{ID: id, How: runner.Resume}
}

// stopsAtWords stops the turn once the client has printed "begun".
func (p *playing) stopsAtWords() {
	p.turn.Partial = true
	p.turn.Event = func(ev *streamjson.Event) {
		if ev.Kind == streamjson.KindPartial && ev.Blocks[0].Text == "begun" {
			p.cancel()
		}
	}
}

// stopsAtQuestion stops the turn when the client requests permission.
func (p *playing) stopsAtQuestion() {
	p.turn.Permit = func(ctx context.Context, r runner.PermissionRequest) runner.Decision {
		p.cancel()
		<-ctx.Done()
		return runner.Decision{Request: r}
	}
}

// TestRecords replays the recorded dialogues of the real clients against the backend.
// They reveal errors that the stand-in hides, because the stand-in and the backend were
// written from the same reading of the specification.
func TestRecords(t *testing.T) {
	for _, c := range acptest.Clients {
		folder, err := filepath.Abs("../../../testdata/acp/" + c.Name + "-" + c.Version)
		if err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(folder, "*.jsonl"))
		if err != nil || len(files) != len(records) {
			t.Fatalf("%s has %d records, and this test plays %d (%v)", folder, len(files), len(records), err)
		}
		for _, file := range files {
			row := strings.TrimSuffix(filepath.Base(file), ".jsonl")
			r, ok := records[row]
			if !ok {
				t.Fatalf("nothing says what the backend makes of %s", file)
			}
			want, why := r.want, ""
			if d, ok := r.but[c.Name]; ok {
				want, why = d.want, "; "+c.Name+" "+d.why
			}
			t.Run(c.Name+"/"+row, func(t *testing.T) {
				if testing.Short() && !slices.Contains([]string{"turn", "shell", "refused", "unknown", "cut"}, row) {
					t.Skip("takes seconds")
				}
				t.Parallel()
				if got := play(t, c.Name, file, r.begin, want.Silent); got != want {
					t.Errorf("played %+v\n  want %+v%s", got, want, why)
				}
			})
		}
	}
}

// play replays a record against the backend. If the client is silent, its turn ends
// promptly.
func play(t *testing.T, name, file string, begin func(*playing), silent bool) played {
	turn := newTurn(t, name, "play", acpstandin.PlayVar+"="+file)
	turn.Permit = allow(false)
	if client(t, name).Silence > 0 {
		turn.Spec.Options = map[string]any{"silence": "1m"}
		if silent {
			turn.Spec.Options["silence"] = "500ms"
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if begin != nil {
		begin(&playing{t: t, name: name, turn: &turn, cancel: cancel})
	}
	out := backend(t, name).Run(ctx, turn)
	if complaint, err := os.ReadFile(turn.Stderr); err != nil || len(complaint) > 0 {
		t.Errorf("the backend has left the record: %s (%v)", complaint, err)
	}
	if out.End != runner.Done && out.Reason == "" || out.End != runner.Done && out.End != runner.NoSession && out.Hint == "" {
		t.Errorf("ended %s without a reason or a hint: %q, %q", out.End, out.Reason, out.Hint)
	}
	if out.End != runner.NoSession && out.Session == "" {
		t.Error("the turn has no session")
	}
	got := played{
		End: out.End, Text: out.Text[:min(40, len(out.Text))], Calls: out.ToolCalls, Tokens: out.Tokens, Asked: len(out.Decisions),
		Unknown: out.Unknown, Silent: strings.Contains(out.Reason, "has been silent for"),
	}
	for _, d := range out.Denied {
		got.Denied += d.Allow
	}
	for _, f := range out.Files {
		rel, err := filepath.Rel(turn.Spec.Dir, f)
		if err != nil {
			t.Error(err)
		}
		got.File += rel
	}
	if !out.ResetAt.IsZero() {
		got.Reset = out.ResetAt.Format("15:04")
		if until := time.Until(out.ResetAt); until <= 0 || until > 24*time.Hour {
			t.Errorf("the limit ends at %v", out.ResetAt)
		}
	}
	return got
}

// allow returns a [runner.Permit] that always gives the same answer.
func allow(yes bool) runner.Permit {
	return func(_ context.Context, r runner.PermissionRequest) runner.Decision {
		return runner.Decision{Request: r, Allowed: yes}
	}
}
