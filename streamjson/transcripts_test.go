package streamjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/streamjson"
)

// decode returns the events of a transcript and checks the invariants of each event.
func decode(t *testing.T, name string) []*streamjson.Event {
	t.Helper()
	dir, file := filepath.Split(name) // the client version, if it is not 2.1.197
	data, err := os.ReadFile(filepath.Join("../testdata/transcripts"+strings.TrimSuffix("-"+dir, "-"), file+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	d := streamjson.NewDecoder(bytes.NewReader(data), 0)
	var events []*streamjson.Event
	for line := range bytes.Lines(data) {
		ev, err := d.Next()
		if err != nil {
			t.Fatalf("Next: %v", err)
		}
		if string(ev.Raw)+"\n" != string(line) {
			t.Fatalf("Raw = %q, want %q", ev.Raw, line)
		}
		roundTrip(t, ev)
		events = append(events, ev.Clone())
	}
	if _, err := d.Next(); !errors.Is(err, io.EOF) {
		t.Fatalf("Next after the last line: %v, want io.EOF", err)
	}
	if s := d.Stats(); s != (streamjson.Stats{Lines: int64(len(events))}) {
		t.Errorf("Stats = %+v, want %d good lines", s, len(events))
	}
	return events
}

func last(events []*streamjson.Event, kind streamjson.Kind) *streamjson.Event {
	for i := len(events) - 1; i >= 0; i-- {
		if events[i].Kind == kind {
			return events[i]
		}
	}
	return nil
}

// TestTranscripts pins every event of every transcript in one golden file for each
// version of the client.
func TestTranscripts(t *testing.T) {
	for version, least := range map[string]int{"": 40, "330": 28} {
		t.Run(version, func(t *testing.T) { pinTranscripts(t, version, least) })
	}
}

func pinTranscripts(t *testing.T, version string, least int) {
	set := strings.TrimSuffix("transcripts-"+version, "-")
	paths, err := filepath.Glob(filepath.Join("../testdata", set, "*.jsonl"))
	if err != nil || len(paths) < least {
		t.Fatalf("transcripts: %d, %v", len(paths), err)
	}
	var got bytes.Buffer
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".jsonl")
		fmt.Fprintf(&got, "== %s\n", name)
		session := ""
		for _, ev := range decode(t, filepath.Join(version, name)) {
			if ev.Session != session && ev.Session != "" {
				session = ev.Session
				fmt.Fprintf(&got, "-- session %s\n", session)
			}
			got.WriteString(digest(t, ev) + "\n")
		}
	}
	golden := filepath.Join("testdata", set+".txt")
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", golden, diff)
	}
}

// digest returns an event as one line: its JSON with shortened text, without random parts
// and without parts that are the same on all lines.
func digest(t *testing.T, ev *streamjson.Event) string {
	t.Helper()
	e := ev.Clone()
	e.Session, e.UUID, e.MessageID = "", "", ""
	for i := range e.Blocks {
		e.Blocks[i].Text = short(e.Blocks[i].Text)
	}
	if e.Init != nil {
		e.Init.Tools = []string{fmt.Sprintf("%d tools, %s first", len(e.Init.Tools), e.Init.Tools[0])}
	}
	data, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func short(s string) string {
	if len(s) < 160 {
		return s
	}
	return fmt.Sprintf("%s… (%d bytes)", s[:100], len(s))
}

// TestWhatMatters checks the facts on which the daemon relies.
func TestWhatMatters(t *testing.T) {
	t.Run("hello", func(t *testing.T) {
		events := decode(t, "hello")
		in := events[0].Init
		if in.Cwd != "/home/dev/project" || in.Model != "claude-opus-4-8[1m]" || in.PermissionMode != "default" || in.Version != "2.1.197" || len(in.Tools) != 24 {
			t.Errorf("Init = %+v", in)
		}
		if n, ok := events[1].ContextTokens(); n != 12_000 || !ok || events[1].MessageID != "msg_fake_000002" || events[1].Blocks[0].Text != "Hello from the script." {
			t.Errorf("assistant = %+v with %d tokens of context", events[1], n)
		}
		want := &streamjson.Result{Subtype: "success", Text: "Hello from the script.", Turns: 1, Duration: 115 * time.Millisecond, CostUSD: 0.00617,
			StopReason: "end_turn", TerminalReason: "completed", ContextLimit: 1_000_000, Models: []streamjson.ModelUsage{
				{Model: "claude-opus-4-8[1m]", Usage: streamjson.Usage{Input: 10, Output: 5, CacheRead: 11990}, CostUSD: 0.00617, ContextWindow: 1_000_000}}}
		if diff := cmp.Diff(want, events[2].Result); diff != "" {
			t.Errorf("Result (-want +got):\n%s", diff)
		}
		for _, ev := range events {
			if ev.Session != "ee4d7cfb-b4f8-451a-b684-85635e6904cc" || len(ev.UUID) != 36 || ev.Parent != "" {
				t.Errorf("%s: Session, UUID, Parent = %q, %q, %q", ev.Kind, ev.Session, ev.UUID, ev.Parent)
			}
		}
	})
	t.Run("tool_use", func(t *testing.T) {
		events := decode(t, "tool_use")
		call, result := events[2].Blocks[0], events[3].Blocks[0]
		if call.Kind != streamjson.BlockToolUse || call.Name != "Bash" || !bytes.HasPrefix(call.Input, []byte(`{"command":"echo 'ok`)) {
			t.Errorf("call = %+v", call)
		}
		want := streamjson.Block{Kind: streamjson.BlockToolResult, ID: call.ID, Text: "Exit code 1\nok   demo  0.012s\nFAIL mail  0.034s", Failed: true}
		if diff := cmp.Diff(want, result); diff != "" || call.ID != "toolu_01RunTestsAbCdEfGhIjKlMn" {
			t.Errorf("result of %s (-want +got):\n%s", call.ID, diff)
		}
	})
	t.Run("compactions", func(t *testing.T) {
		for name, want := range map[string]streamjson.Compact{
			"auto_compact":      {Trigger: "auto", Pre: 68010, Post: 654},
			"auto_compact_hook": {Trigger: "auto", Pre: 68010, Post: 688},
			"manual_compact":    {Trigger: "manual"},
			"reactive_compact":  {Trigger: "auto"},
		} {
			events := decode(t, name)
			got := last(events, streamjson.KindCompact).Compact
			if want.Pre == 0 {
				got.Pre, got.Post = 0, 0
			}
			if *got != want {
				t.Errorf("%s: Compact = %+v, want %+v", name, *got, want)
			}
			if summary := last(events, streamjson.KindUser); !summary.Synthetic || !strings.HasPrefix(summary.Blocks[0].Text, "This session is being continued") {
				t.Errorf("%s: summary = %+v", name, summary)
			}
		}
		for name, want := range map[string]string{
			"compact_failed":           "API Error: 400 the summary could not be made",
			"manual_compact_too_short": "Not enough messages to compact.",
		} {
			events := decode(t, name)
			s := last(events, streamjson.KindStatus).Status
			if s.CompactResult != "failed" || s.CompactError != want || last(events, streamjson.KindCompact) != nil {
				t.Errorf("%s: Status = %+v", name, s)
			}
		}
	})
	t.Run("hooks", func(t *testing.T) {
		h := last(decode(t, "auto_compact_hook"), streamjson.KindHook).Hook
		if h.Phase != "response" || h.Event != "SessionStart" || h.Name != "SessionStart:compact" || h.Outcome != "success" || h.ExitCode != 0 ||
			!strings.Contains(h.Output, "(window of the buffer)") {
			t.Errorf("Hook = %+v", h)
		}
	})
	t.Run("errors", func(t *testing.T) {
		for name, want := range map[string]struct {
			status, retries int
			word            string
		}{
			"error_401":                  {401, 10, "authentication_failed"},
			"error_529_retry":            {529, 10, "server_error"},
			"error_429_retry_after_3600": {429, 0, "rate_limit"},
		} {
			events := decode(t, name)
			retries := 0
			for _, ev := range events {
				if ev.Kind == streamjson.KindRetry {
					if retries++; ev.Retry.Attempt != retries || ev.Retry.Max != 10 || ev.Retry.Status != want.status || ev.Retry.Delay < 400*time.Millisecond {
						t.Errorf("%s: Retry = %+v", name, ev.Retry)
					}
				}
			}
			said, r := last(events, streamjson.KindAssistant), last(events, streamjson.KindResult).Result
			if retries != want.retries || said.Error != want.word || !said.Synthetic || r.APIStatus != want.status || !r.IsError || r.Subtype != "success" {
				t.Errorf("%s: %d retries, %q, %+v", name, retries, said.Error, r)
			}
			if _, ok := said.ContextTokens(); ok {
				t.Errorf("%s: the client's own words have a context", name)
			}
		}
	})
	t.Run("results without a text", func(t *testing.T) {
		for name, want := range map[string]struct{ subtype, text string }{
			"resume_missing":     {"error_during_execution", "No conversation found with session ID: 11111111-1111-4111-8111-111111111111"},
			"max_turns":          {"error_max_turns", "Reached maximum number of turns (3)"},
			"max_budget":         {"error_max_budget_usd", "Reached maximum budget"},
			"interrupted_sigint": {"error_during_execution", ""},
		} {
			r := last(decode(t, name), streamjson.KindResult).Result
			if r.Subtype != want.subtype || !r.IsError || r.Text != "" || len(r.Errors) != 1 || !strings.Contains(r.Errors[0], want.text) {
				t.Errorf("%s: Result = %+v", name, r)
			}
		}
		if last(decode(t, "interrupted"), streamjson.KindResult) != nil {
			t.Error("interrupted has a result")
		}
	})
	t.Run("denials", func(t *testing.T) {
		r := last(decode(t, "permission_denied"), streamjson.KindResult).Result
		if len(r.Denials) != 1 || r.Denials[0].Tool != "Write" || r.Denials[0].ID != "toolu_01WriteFileAbCdEfGhIjKlM" ||
			string(r.Denials[0].Input) != `{"file_path":"/home/dev/project/note.txt","content":"hello\n"}` {
			t.Errorf("Denials = %s", r.Denials)
		}
	})
	t.Run("sub-agents", func(t *testing.T) {
		context, inner := 0, 0
		for _, ev := range decode(t, "subagent") {
			if n, ok := ev.ContextTokens(); ok {
				context = n
			}
			if ev.Parent != "" {
				inner++
			}
		}
		if context != 91_000 || inner != 3 {
			t.Errorf("context of %d tokens, %d lines of the sub-agent, want 91000 and 3", context, inner)
		}
	})
	t.Run("replays", func(t *testing.T) {
		var uuids []string
		for _, ev := range decode(t, "resident_queued") {
			if ev.Kind == streamjson.KindReplay {
				uuids = append(uuids, ev.UUID[len(ev.UUID)-1:])
			}
		}
		if got := strings.Join(uuids, " "); got != "3 4 5 4" {
			t.Errorf("replays = %s, want 3 4 5 4", got)
		}
	})
	t.Run("partial messages", func(t *testing.T) {
		var text string
		for _, ev := range decode(t, "partial_messages") {
			if ev.Kind == streamjson.KindPartial {
				for _, b := range ev.Blocks {
					text += b.Text
				}
			}
		}
		if text != "Hello from the script." {
			t.Errorf("the pieces make %q", text)
		}
	})
	t.Run("control", func(t *testing.T) {
		want := streamjson.Control{Type: "response", RequestID: "req-1", Subtype: "success", OK: true}
		if got := last(decode(t, "resident_interrupt"), streamjson.KindControl).Control; *got != want {
			t.Errorf("Control = %+v, want %+v", *got, want)
		}
	})
	t.Run("tasks", func(t *testing.T) {
		want := streamjson.Task{Phase: "notification", ID: "bnmpblbd1", ToolUse: "toolu_01BackgrAbCdEfGhIjKlMnOp", Status: "completed", Summary: `Background command "Build" completed (exit code 0)`}
		if diff := cmp.Diff(&want, last(decode(t, "background_task"), streamjson.KindTask).Task); diff != "" {
			t.Errorf("Task (-want +got):\n%s", diff)
		}
		var background [][]streamjson.Task
		for _, ev := range decode(t, "330/resident_mixed") {
			if ev.Kind == streamjson.KindTask && ev.Task.Phase == "background" {
				background = append(background, ev.Task.Background)
			}
			if ev.Kind == streamjson.KindTask && ev.Task.Phase == "started" && ev.Task.Foreground == (ev.Task.ID == "biyhs7gv1") {
				t.Errorf("the task %s waits in the foreground: %v", ev.Task.ID, ev.Task.Foreground)
			}
		}
		if diff := cmp.Diff([][]streamjson.Task{{{ID: "biyhs7gv1", Type: "local_bash"}}, nil, nil}, background); diff != "" {
			t.Errorf("tasks in the background (-want +got):\n%s", diff)
		}
	})
	t.Run("costs", func(t *testing.T) {
		for name, want := range map[string]struct{ total, sinceLast []float64 }{
			"hello":                  {[]float64{0.00617}, []float64{-1}}, // 2.1.197 does not report SinceLastUSD
			"330/hello":              {[]float64{0.003642}, []float64{0.003642}},
			"330/manual_compact":     {[]float64{0.085365}, []float64{0.071694}}, // this session was resumed
			"330/error_529":          {[]float64{0}, []float64{0}},
			"330/resident_two_turns": {[]float64{0.065625, 0.131454, 0.154348}, []float64{0.065625, 0.065829, 0.022894}},
		} {
			var total, sinceLast []float64
			for _, ev := range decode(t, name) {
				if ev.Kind != streamjson.KindResult {
					continue
				}
				said := -1.0
				if ev.Result.SinceLastUSD != nil {
					said = math.Round(*ev.Result.SinceLastUSD*1e9) / 1e9
				}
				total, sinceLast = append(total, math.Round(ev.Result.CostUSD*1e9)/1e9), append(sinceLast, said)
			}
			if !cmp.Equal(total, want.total) || !cmp.Equal(sinceLast, want.sinceLast) {
				t.Errorf("%s: totals %v, since the last result %v, want %+v", name, total, sinceLast, want)
			}
		}
	})
	t.Run("commands", func(t *testing.T) {
		var states []string
		for _, ev := range decode(t, "330/resident_two_turns") {
			if ev.Kind == streamjson.KindCommand && ev.Command.UUID == "7dfb5b40-60ef-4423-beb3-29461d520f40" {
				states = append(states, ev.Command.State)
			}
		}
		if got := strings.Join(states, " "); got != "queued started completed" {
			t.Errorf("the first prompt was %s", got)
		}
	})
	t.Run("a session that changes", func(t *testing.T) {
		events := decode(t, "resident_clear")
		if a, b := events[0].Session, last(events, streamjson.KindResult).Session; a == b || a == "" || b == "" {
			t.Errorf("sessions %q and %q, want two", a, b)
		}
	})
	t.Run("thinking", func(t *testing.T) {
		events := decode(t, "thinking")
		if b := events[2].Blocks[0]; b.Kind != streamjson.BlockThinking || !strings.HasPrefix(b.Text, "The mailbox holds two messages.") {
			t.Errorf("thinking = %+v", b)
		}
		if events[1].What != "system/thinking_tokens" {
			t.Errorf("What = %q", events[1].What)
		}
	})
}

func TestContextLimitIsThatOfTheMainModel(t *testing.T) {
	const usage = `{"type":"result","modelUsage":{"helper":{"inputTokens":900,"contextWindow":1000000},"main":{"inputTokens":100,"contextWindow":200000}}}` + "\n"
	for stream, want := range map[string]int{
		usage: 1_000_000, // no line names the main model, so the model that read the most tokens is used
		`{"type":"system","subtype":"init","model":"main"}` + "\n" + usage:  200_000,
		`{"type":"system","subtype":"init","model":"other"}` + "\n" + usage: 1_000_000,
		`{"type":"result","modelUsage":{}}`:                                 0,
	} {
		d := streamjson.NewDecoder(strings.NewReader(stream), 0)
		var got int
		for {
			ev, err := d.Next()
			if err != nil {
				break
			}
			if ev.Result != nil {
				got = ev.Result.ContextLimit
			}
		}
		if got != want {
			t.Errorf("%s: ContextLimit = %d, want %d", stream, got, want)
		}
	}
}

// TestStringsMayBeKept keeps the strings of all events while the decoder reads later
// events.
func TestStringsMayBeKept(t *testing.T) {
	var stream strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&stream, `{"type":"assistant","message":{"content":[{"type":"text","text":"text\t%d"}],"id":"m%d"},"session_id":"s%d","uuid":"u%d"}`+"\n", i, i, i/100, i)
	}
	d := streamjson.NewDecoder(strings.NewReader(stream.String()), 0)
	var kept []string
	for range 5000 {
		ev, err := d.Next()
		if err != nil {
			t.Fatal(err)
		}
		kept = append(kept, ev.Blocks[0].Text+" "+ev.MessageID, ev.Session, ev.UUID)
	}
	for i := range 5000 {
		got := strings.Join(kept[3*i:3*i+3], " ")
		if want := fmt.Sprintf("text\t%d m%d s%d u%d", i, i, i/100, i); got != want {
			t.Fatalf("strings of event %d are %q now, want %q", i, got, want)
		}
	}
}
