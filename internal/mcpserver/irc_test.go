package mcpserver_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/internal/client"
	"github.com/claude-swarm/claude-swarm/ircbridge"
)

// newChat returns a project with IRC and with the files of a bridge in #project-x.
func newChat(t *testing.T) *project {
	t.Helper()
	p := newProject(t, asAgent("coder"))
	p.chat = &client.Channels{Project: "#project-x", Alerts: "#alerts", Buffer: 500, Known: []string{"#project-x", "#alerts"}}
	if err := p.store.MakeMailbox("irc"); err != nil {
		t.Fatal(err)
	}
	dir := ircbridge.Folder(p.home.Dir())
	if err := os.MkdirAll(filepath.Join(dir, "buffer"), 0o700); err != nil {
		t.Fatal(err)
	}
	state, err := json.Marshal(bridge.State{V: 1, Connected: true, Channels: []bridge.Channel{
		{Name: "#project-x", Joined: true, Topic: "Release on Friday", Members: []bridge.Member{{Nick: "ann", Modes: "@"}, {Nick: "swarm"}}, More: 1},
		{Name: "#away", Why: "banned"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "state.json"), state, 0o600); err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	for i, text := range []string{"one", "two", "three"} {
		fmt.Fprintf(&lines, `{"n":%d,"at":"2026-01-02T0%d:00:00Z","channel":"#project-x","nick":"ann","account":"ann","text":%q}`+"\n", i+1, i, text)
	}
	if err := os.WriteFile(filepath.Join(dir, "buffer", "%23project-x.jsonl"), []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	lock, err := os.Create(filepath.Join(dir, "lock")) // a bridge is running
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lock.Close() })
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestIRCSend(t *testing.T) {
	p := newChat(t)
	out, text := p.call("irc_send", `{"channel":"#project-x","message":"The build is green"}`)
	if out["channel"] != "#project-x" || !strings.Contains(text, "3 lines in #project-x that you have not read") {
		t.Errorf("irc_send = %v, %q", out, text)
	}
	p.call("send_message", `{"channel":"project-x","text":"Still green"}`)
	p.call("irc_send", `{"channel":"ann","message":"psst"}`)
	p.call("irc_join", `{"channel":"#general"}`)
	p.call("create_channel", `{"name":"#work-1"}`)
	p.call("irc_part", `{"channel":"#general"}`)
	p.call("irc_topic", `{"channel":"#project-x","text":"On\n Friday"}`)
	if why := p.fails("irc_part", `{"channel":"#Project-x"}`); why != "irc_part: #Project-x is a configured channel, and the bridge stays there; "+
		"to do: nothing, because lines there wake you only if they name you. irc_part leaves channels that irc_join has joined" {
		t.Errorf("irc_part of the project's channel: %q", why)
	}
	var got []string
	for _, m := range p.waiting("irc") {
		n, ok := bridge.OriginOf(m, ircbridge.Name)
		if !ok || m.From != "coder" || m.Type != dropbox.Note {
			t.Errorf("a message for the bridge: %+v", m)
		}
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s: %s", n.Do, n.Channel, strings.TrimSpace(string(m.Body)))))
	}
	want := []string{
		"#project-x: The build is green", "#project-x: Still green", "ann: psst", "join #general: join #general", "join #work-1: join #work-1",
		"part #general: part #general", "topic #project-x: On Friday",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the bridge is asked %q, want %q", got, want)
	}
	for arguments, want := range map[string]string{
		`{"channel":"#project-x","message":" "}`:     "the text is empty",
		`{"channel":"#a b","message":"x"}`:           "neither a channel nor a nick",
		`{"message":"x"}`:                            "channel",
		`{"channel":"#x","message":"<<<HALT>>> x"}`:  "",
		`{"channel":"#project-x","text":"the same"}`: `no argument "text"`,
	} {
		if want != "" && !strings.Contains(p.fails("irc_send", arguments), want) {
			t.Errorf("irc_send %s: want %q", arguments, want)
		}
	}
}

// irc_read returns each line only once, oldest first. read_messages also returns lines
// that have already been read, newest first.
func TestIRCRead(t *testing.T) {
	p := newChat(t)
	texts := func(out map[string]any) string {
		var list []string
		for _, l := range out["lines"].([]any) {
			list = append(list, l.(map[string]any)["text"].(string))
		}
		return strings.Join(list, " ")
	}
	out, text := p.call("irc_read", `{"limit":2}`)
	if texts(out) != "one two" || out["left"] != 1.0 || !strings.Contains(text, "2026-01-02T00:00:00Z <ann> one") {
		t.Errorf("irc_read = %v, %q", out, text)
	}
	if out, _ := p.call("irc_read", `{"channel":"#project-x"}`); texts(out) != "three" {
		t.Errorf("the second irc_read = %v", out)
	}
	if out, text := p.call("irc_read", `{"channel":"project-x"}`); texts(out) != "" || !strings.Contains(text, "Nothing new in #project-x") {
		t.Errorf("the third irc_read = %v, %q", out, text)
	}
	if out, _ := p.call("read_messages", `{"channel":"#project-x"}`); texts(out) != "three two one" {
		t.Errorf("read_messages = %v", out)
	}
	if out, _ := p.call("read_messages", `{"channel":"#project-x","since":"2026-01-02T00:30:00Z","limit":1}`); texts(out) != "three" {
		t.Errorf("read_messages since = %v", out)
	}
	if why := p.fails("read_messages", `{"channel":"#project-x","since":"yesterday"}`); !strings.Contains(why, "is not a time") {
		t.Errorf("read_messages since yesterday: %q", why)
	}
}

// Lines from the lead show the lead's name within the swarm; all other lines show the
// sender's nick.
func TestIRCReadCallsTheLeadByName(t *testing.T) {
	p := newChat(t)
	p.leadName = "opus-orange"
	lines := `{"n":1,"at":"2026-01-02T00:00:00Z","channel":"#project-x","nick":"lead","text":"one","drop":"k7f3q9m2xd"}
{"n":2,"at":"2026-01-02T01:00:00Z","channel":"#project-x","nick":"lead","text":"two"}
`
	if err := os.WriteFile(filepath.Join(ircbridge.Folder(p.home.Dir()), "buffer", "%23project-x.jsonl"), []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, text := p.call("irc_read", `{}`); !strings.Contains(text, "<opus-orange> one") || !strings.Contains(text, "<lead> two") {
		t.Errorf("irc_read = %q", text)
	}
	if _, text := p.call("read_messages", `{"channel":"#project-x"}`); !strings.Contains(text, "<opus-orange> one") {
		t.Errorf("read_messages = %q", text)
	}
}

// An agent that has not read its channels for a long time gets one reminder to do so. The
// reminder replaces the note about one channel.
func TestIRCAdvice(t *testing.T) {
	p := newChat(t)
	quiet := func(d time.Duration) {
		t.Helper()
		dir := filepath.Join(ircbridge.Folder(p.home.Dir()), "checks")
		err := os.MkdirAll(dir, 0o700)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "coder.json"), fmt.Appendf(nil, `{"since":%q}`, time.Now().Add(-d).Format(time.RFC3339Nano)), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	const (
		advice = "[CORRECTION] You haven't checked your channels in 12 minutes. Consider doing an irc_read() to see if there's relevant input."
		unread = "3 lines in #project-x that you have not read (irc_read)."
	)
	note := func(what, want string) {
		t.Helper()
		if out, _ := p.call("irc_send", `{"channel":"#project-x","message":"Still at it"}`); out["note"] != want {
			t.Errorf("the note %s is %q, want %q", what, out["note"], want)
		}
	}
	quiet(9 * time.Minute)
	note("after 9 minutes", unread)
	quiet(12*time.Minute + time.Second)
	note("after 12 minutes", advice)
	note("the next time", unread)
	p.call("irc_read", `{"limit":1}`)
	note("after reading", "2 lines in #project-x that you have not read (irc_read).")
	p.chat.Own = map[string][]string{"coder": {"#api"}} // coder does not read the other channels
	quiet(12*time.Minute + time.Second)
	note("about channels of others", "2 lines in #project-x that you have not read (irc_read).")
}

func TestIRCChannels(t *testing.T) {
	p := newChat(t)
	out, text := p.call("irc_channels", `{}`)
	if len(out["channels"].([]any)) != 1 || text != "#project-x: 3 members, 3 unread; Release on Friday" {
		t.Errorf("irc_channels = %v, %q", out, text)
	}
	if _, text := p.call("list_channels", `{}`); text != "#project-x" {
		t.Errorf("list_channels = %q", text)
	}
	if _, text := p.call("irc_who", `{}`); text != "In #project-x: @ann, swarm.\nAnd 1 more." {
		t.Errorf("irc_who = %q", text)
	}
	if _, text := p.call("get_members", `{"channel":"#project-x"}`); text != "ann, swarm" {
		t.Errorf("get_members = %q", text)
	}
	if _, text := p.call("irc_topic", `{"channel":"#project-x"}`); text != "#project-x: Release on Friday" {
		t.Errorf("irc_topic = %q", text)
	}
	if why := p.fails("irc_who", `{"channel":"#away"}`); !strings.Contains(why, "the bridge is not in #away: banned") {
		t.Errorf("irc_who of a channel that it is not in: %q", why)
	}
}

// An answer from the bridge ends the wait and is not delivered as a separate message. If
// no answer arrives, both the result and a line in the alerts channel say so.
func TestIRCAsk(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Parallel()
	p := newChat(t)
	answered := make(chan error, 1)
	go func() {
		for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
			for _, m := range p.waiting("irc") {
				if m.Type != dropbox.Question {
					continue
				}
				err := p.sign("coder", &dropbox.Message{From: "irc", Type: dropbox.Result, ReplyTo: m.ID, Body: []byte("yes\n"), Extra: bridge.Origin{Channel: "#project-x", Nick: "ann", Account: "ann"}.Extra(ircbridge.Name)})
				answered <- err
				return
			}
		}
		answered <- fmt.Errorf("nothing was asked")
	}()
	out, text := p.call("irc_ask", `{"channel":"#project-x","question":"Delete 47 files. Proceed?"}`)
	if err := <-answered; err != nil {
		t.Fatal(err)
	}
	if out["answered"] != true || out["outcome"] != "answered" || out["text"] != "yes" || out["nick"] != "ann" || out["account"] != "ann" || !strings.Contains(text, "ann answers in #project-x") {
		t.Errorf("irc_ask = %v, %q", out, text)
	}
	if left := p.waiting("coder"); len(left) != 0 {
		t.Errorf("the answer is a message too: %+v", left)
	}
	out, _ = p.call("irc_ask", `{"channel":"#project-x","question":"Anybody?","timeout":1}`)
	if out["answered"] != false || !strings.Contains(out["note"].(string), "Nobody answered within 1s") {
		t.Errorf("irc_ask in vain = %v", out)
	}
	var alerts []string
	for _, m := range p.waiting("irc") {
		if n, _ := bridge.OriginOf(m, ircbridge.Name); n.Announces == bridge.Alert && n.Channel == "#alerts" {
			alerts = append(alerts, strings.SplitAfter(string(m.Body), "]")[0])
		}
	}
	if want := []string{"[QUESTION]", "[QUESTION]", "[TIMEOUT]"}; !slices.Equal(alerts, want) {
		t.Errorf("people were told %q, want %q", alerts, want)
	}
}

// In a turn, the tool records in the turn's files both the question and the fact that
// nobody answered. The daemon then informs people about both, so the tool posts nothing to
// the alerts channel.
func TestIRCAskInATurn(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Parallel()
	const turn = "k7f3q9m2xd-1"
	p := newChat(t)
	p.inTurn(turn)
	p.call("irc_ask", `{"channel":"#project-x","question":"Delete 47 files.\nProceed?","timeout":1,"on_timeout":"deny"}`)
	sent := p.waiting("irc")
	if len(sent) != 1 || sent[0].Type != dropbox.Question || !strings.HasPrefix(sent[0].Key, "human:") {
		t.Fatalf("the bridge got %+v, want the question alone", sent)
	}
	all := p.home.Asks(turn).All()
	if len(all) != 1 {
		t.Fatalf("the turn has the questions %+v", all)
	}
	q := all[0]
	if q.ID != sent[0].ID || q.Of != "#project-x" || q.Mailbox != "irc" || q.Text != "Delete 47 files. Proceed?" || q.Late != "deny" || q.Why != "" || q.Until.Sub(q.Since) != time.Second {
		t.Errorf("the turn has the question %+v", q)
	}
}

// By default, only a person may answer. With "any", an agent may answer as well, by
// calling reply. With "first", the question goes to several channels, and a person in any
// of them may answer; the other channels are then notified that the question has been
// answered.
func TestIRCAskAnswerers(t *testing.T) {
	const turn = "k7f3q9m2xd-1"
	person := func(m *dropbox.Message) {
		m.From, m.Extra = "irc", bridge.Origin{Channel: "#general", Nick: "ann"}.Extra(ircbridge.Name)
	}
	agent := func(m *dropbox.Message) { m.From = "reviewer" }
	type by = func(*dropbox.Message)
	lead := func(m *dropbox.Message) { m.From = "lead" }
	for name, c := range map[string]struct {
		arguments string
		by        []by // who answers, in order; only the last answer counts
		to        int  // index of the question that gets the answers
		nick      string
		at        string
	}{
		"left out, an agent": {`"channel":"#project-x"`, []by{agent, person}, 0, "ann", "#project-x"},
		"human, an agent":    {`"channel":"#project-x","answerers":"human"`, []by{agent, person}, 0, "ann", "#project-x"},
		"human, a person":    {`"channel":"#project-x","answerers":"human"`, []by{person}, 0, "ann", "#project-x"},
		"human, by mail":     {`"channel":"#project-x","answerers":"human"`, []by{lead}, 0, "lead", "#project-x"},
		"any, an agent":      {`"channel":"#project-x","answerers":"any"`, []by{agent}, 0, "reviewer", "#project-x"},
		"first, a person":    {`"channel":"#project-x, #general","answerers":"first"`, []by{person}, 1, "ann", "#general"},
		"first, an agent":    {`"channel":"#project-x, #general","answerers":"first"`, []by{agent, person}, 1, "ann", "#general"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newChat(t)
			p.inTurn(turn)
			done := make(chan error, 1)
			go func() {
				for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
					if asked := p.waiting("irc"); len(asked) > c.to {
						var err error
						for _, by := range c.by {
							m := &dropbox.Message{Type: dropbox.Result, ReplyTo: asked[c.to].ID, Body: []byte("yes\n")}
							by(m)
							err = errors.Join(err, p.sign("coder", m))
						}
						done <- err
						return
					}
				}
				done <- fmt.Errorf("nothing was asked")
			}()
			out, _ := p.call("irc_ask", `{"question":"Proceed?","timeout":3600,`+c.arguments+`}`)
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			nick, _ := out["nick"].(string)
			if out["outcome"] != "answered" || nick != c.nick || out["channel"] != c.at {
				t.Errorf("irc_ask = %v, want an answer by %q at %s", out, c.nick, c.at)
			}
			all, said := p.home.Asks(turn).All(), p.waiting("irc")
			for i, q := range all {
				if q.Why == "" || (q.Copy != "") != (i > 0) {
					t.Errorf("the question %+v", q)
				}
			}
			if last := said[len(said)-1]; c.to > 0 && !strings.HasPrefix(string(last.Body), "ann has already answered "+all[0].ID+", in #general") {
				t.Errorf("the other channel hears %q", last.Body)
			}
		})
	}
	p := newChat(t)
	for arguments, want := range map[string]string{
		`{"channel":"#a,#A","question":"?","answerers":"first"}`: "#A is named twice",
		`{"channel":"#a,#b","question":"?"}`:                     "neither a channel nor a nick",
		`{"channel":",","question":"?","answerers":"first"}`:     "no channel is named",
		`{"channel":"#a","question":"?","answerers":"all"}`:      `answerers: "all" is not one of human, any, first`,
	} {
		if why := p.fails("irc_ask", arguments); !strings.Contains(why, want) {
			t.Errorf("irc_ask %s: %q, want %q", arguments, why, want)
		}
	}
	if n := len(p.waiting("irc")); n != 0 {
		t.Errorf("%d messages were sent", n)
	}
}

// An agent can answer a question to people only while the question is open, and only if
// the asker allows agents to answer.
func TestReplyToAQuestionOnIRC(t *testing.T) {
	p := newChat(t)
	ask := func(key string) string {
		return p.deliver("irc", &dropbox.Message{From: "reviewer", Type: dropbox.Question, Key: key, Turn: "k7f3q9m2xd-1", Body: []byte("Proceed?")})
	}
	p.inTurn("k7f3q9m2xd-1")
	person, any, over := ask("human:x"), ask("any:y"), ask("any:z")
	asks := p.home.Asks("k7f3q9m2xd-1")
	if err := asks.End(over, "ann has already answered"); err != nil {
		t.Fatal(err)
	}
	if why := p.fails("reply", `{"id":"`+person+`","text":"yes"}`); !strings.Contains(why, "is in the mailbox of irc, not in yours") {
		t.Errorf("reply to a question to people: %q", why)
	}
	if why := p.fails("reply", `{"id":"`+over+`","text":"yes"}`); !strings.Contains(why, "ann has already answered") {
		t.Errorf("reply to a question that is over: %q", why)
	}
	p.call("reply", `{"id":"`+any+`","text":"yes"}`)
	if got := p.waiting("reviewer"); len(got) != 1 || got[0].ReplyTo != any || got[0].Type != dropbox.Result {
		t.Errorf("the asker got %+v", got)
	}
}

// The asker specifies what happens if no person answers.
func TestIRCAskWithoutAnswer(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Parallel()
	for name, c := range map[string]struct{ arguments, outcome, note string }{
		"left out": {``, "continue", "Decide yourself"},
		"continue": {`,"on_timeout":"continue"`, "continue", "Decide yourself"},
		"deny":     {`,"on_timeout":"deny"`, "deny", "Treat that as a no"},
		"pause":    {`,"on_timeout":"pause"`, "pause", "not in a turn"},
		"abort":    {`,"on_timeout":"abort"`, "abort", "not in a turn"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newChat(t)
			p.daemon = idle()
			out, text := p.call("irc_ask", `{"channel":"#project-x","question":"Anybody?","timeout":1`+c.arguments+`}`)
			note, _ := out["note"].(string)
			if out["answered"] != false || out["outcome"] != c.outcome || !strings.Contains(note, c.note) || !strings.Contains(text, "("+c.outcome+")") {
				t.Errorf("irc_ask = %v, %q, want %s …%s…", out, text, c.outcome, c.note)
			}
			if told := p.daemon.notes(); told != "" {
				t.Errorf("the daemon was told %q outside of a turn", told)
			}
		})
	}
	p := newChat(t)
	if why := p.fails("irc_ask", `{"channel":"#project-x","question":"?","on_timeout":"default"}`); !strings.Contains(why, `on_timeout: "default" is not one of continue, pause, deny, abort`) {
		t.Errorf("irc_ask: %q", why)
	}
}

// A message that begins with TASK: creates a task if the agent that sends it is the lead
// and the policy allows it. If any other agent sends it, no task is created, and the
// result says so.
func TestTasksByIRCSend(t *testing.T) {
	p := newChat(t)
	text := `{"channel":"#project-x","message":"TASK: @reviewer look at the parser,\nall of it"}`
	out, _ := p.call("irc_send", text)
	if note, _ := out["note"].(string); !strings.HasPrefix(note, "TASK: gives a task if a person or the lead posts it") || out["tasks"] != nil {
		t.Errorf("irc_send of an agent that does not lead = %v", out)
	}
	p.lead = "coder"
	_, readable := p.call("irc_send", text)
	mail := p.waiting("reviewer")
	if len(mail) != 1 || mail[0].Type != dropbox.Task || mail[0].From != "coder" || string(mail[0].Body) != "look at the parser,\nall of it\n" {
		t.Fatalf("reviewer got %+v", mail)
	}
	if want := "reviewer received it as task " + mail[0].ID + "."; !strings.Contains(readable, want) {
		t.Errorf("irc_send = %q, want %q in it", readable, want)
	}
	for text, want := range map[string]string{
		"TASK: @reviewer":                      "No task follows TASK:",
		"TASK: somebody look at it":            "names no other agent, so nobody gets it. The agents are coder, reviewer.",
		"TASK: @coder do it yourself":          "names no other agent",
		"@reviewer: TASK: is what I will give": "",
	} {
		out, _ := p.call("irc_send", fmt.Sprintf(`{"channel":"#project-x","message":%q}`, text))
		if note, _ := out["note"].(string); out["tasks"] != nil || want != "" && !strings.Contains(note, want) || want == "" && strings.Contains(note, "TASK") {
			t.Errorf("irc_send %q = %v", text, out)
		}
	}
	p.call("irc_send", `{"channel":"ann","message":"TASK: @reviewer between us"}`)
	if n := len(p.waiting("reviewer")); n != 1 {
		t.Errorf("reviewer has %d messages, want 1", n)
	}

	before := len(p.waiting("irc"))
	p.rules.Types = []dropbox.Type{dropbox.Note, dropbox.Question}
	if why := p.fails("irc_send", text); !strings.Contains(why, "refused by a rule") {
		t.Errorf("a task that the rules refuse: %q", why)
	}
	if n := len(p.waiting("irc")); n != before {
		t.Errorf("%d lines are posted about a refused task", n-before)
	}
}

// An agent with its own channels uses the first of them by default.
func TestIRCOfAnAgentWithChannels(t *testing.T) {
	p := newChat(t)
	p.chat.Own = map[string][]string{"coder": {"#api", "#project-x"}}
	if out, _ := p.call("irc_read", `{}`); out["channel"] != "#api" {
		t.Errorf("irc_read = %v", out)
	}
	p.chat.Own = map[string][]string{"reviewer": {"#api"}}
	if out, _ := p.call("irc_read", `{}`); out["channel"] != "#project-x" {
		t.Errorf("irc_read without channels = %v", out)
	}
}
