package bridge

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// A deafSwarm fails the test when it gets an order.
type deafSwarm struct{ t *testing.T }

func (d deafSwarm) Status(context.Context, string) (string, error) {
	d.t.Error("Status was asked")
	return "", nil
}

func (d deafSwarm) Held(context.Context, string) (string, error) { return "", nil }

func (d deafSwarm) Steer(_ context.Context, order Order, agent, by string) (string, error) {
	d.t.Errorf("ordered: %s %s by %s", order, agent, by)
	return "", nil
}

// newListener returns a bridge that handles incoming lines for the given server without a
// connection.
func newListener(t *testing.T, addr string, o Options) (*run, *bytes.Buffer) {
	t.Helper()
	dir := t.TempDir()
	if err := dropbox.Create(dir); err != nil {
		t.Fatal(err)
	}
	store, err := dropbox.Open(dir, dropbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	for _, name := range []string{"coder", "irc"} {
		if err := store.MakeMailbox(name); err != nil {
			t.Fatal(err)
		}
	}
	log := new(bytes.Buffer)
	o.Name, o.Title = "irc", "IRC"
	o.Store, o.Home, o.Swarm, o.Log = store, t.TempDir(), deafSwarm{t}, slog.New(slog.NewTextHandler(log, nil))
	o.Channels.Project = "#project-x"
	if err := o.Check(); err != nil {
		t.Fatal(err)
	}
	box, err := store.Mailbox("irc")
	if err != nil {
		t.Fatal(err)
	}
	link := newStub()
	link.addr = addr
	r := newRun(t.Context(), &o, link, box)
	if err := os.MkdirAll(r.rec.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.rec.close(); err != nil {
			t.Error(err)
		}
	})
	return r, log
}

func TestNobodyCommandsWithoutTheRight(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	now := time.Now()
	// ann has all rights, so this line is obeyed if its text is an order.
	good := irc.Text{Time: now, Target: "#project-x", Source: "ann!~a@home.example", Nick: "ann", Account: "ann"}
	type change func(*irc.Text)
	for name, tc := range map[string]struct {
		why    string
		change change
	}{
		"nobody on the list":       {"nothing permits", func(t *irc.Text) { t.Nick, t.Source, t.Account = "eve", "eve!e@evil.example", "eve" }},
		"her nick, no account":     {"nothing permits", func(t *irc.Text) { t.Account = "" }},
		"her nick, other account":  {"nothing permits", func(t *irc.Text) { t.Account = "eve" }},
		"account star":             {"nothing permits", func(t *irc.Text) { t.Account = "*" }},
		"account in a client tag":  {"nothing permits", func(t *irc.Text) { t.Account, t.Tags = "", map[string]string{"+account": "ann"} }},
		"a host that looks right":  {"nothing permits", func(t *irc.Text) { t.Nick, t.Source, t.Account = "bob", "bob!b@pc.office.example.evil", "" }},
		"a mask in the user name":  {"nothing permits", func(t *irc.Text) { t.Nick, t.Source, t.Account = "bob", "bob!x@pc.office.example@evil", "" }},
		"a server with her name":   {"nothing permits", func(t *irc.Text) { t.Nick, t.Source, t.Account = "ann", "ann", "" }},
		"history of somebody else": {"history", func(t *irc.Text) { t.History, t.Account = true, "eve" }},
		"a bouncer's old line":     {"old", func(t *irc.Text) { t.Time = now.Add(-time.Hour) }},
		"a notice":                 {"notice", func(t *irc.Text) { t.Notice = true }},
		"relayed under her name":   {"relayed", func(t *irc.Text) { t.Relayed = true }},
		"a bot":                    {"bot", func(t *irc.Text) { t.Bot = true }},
		"an emote":                 {"speech", func(t *irc.Text) { t.Emote = true }},
		"private, to another nick": {"not addressed to us", func(t *irc.Text) { t.Private, t.Target = true, "somebody" }},
	} {
		for _, text := range []string{"coder: do it", "TASK: @coder do it", "swarm: halt", "swarm: pause coder", "swarm: status", "swarm: read k7f3q9m2xd"} {
			t.Run(name+"/"+text, func(t *testing.T) {
				r, log := newListener(t, "irc.example", Options{Allow: []Permit{
					{Account: "ann", May: Rights()}, {Mask: "*!*@*.office.example", May: Rights()},
				}})
				said := good
				said.Body = text
				tc.change(&said)
				r.listener.hear(onNetwork(said))
				if n := len(r.waitingFor("coder")); n > 0 {
					t.Errorf("coder got %d messages", n)
				}
				if !strings.Contains(log.String(), "denied") || !strings.Contains(log.String(), tc.why) || r.rec.state.Denied != 1 {
					t.Errorf("denied %d times, log, want %q:\n%s", r.rec.state.Denied, tc.why, log)
				}
			})
		}
	}
	t.Run("the right to talk is no more", func(t *testing.T) {
		r, log := newListener(t, "irc.example", Options{Allow: []Permit{{Account: "ann", May: []Right{Talk}}}})
		for _, text := range []string{"TASK: @coder do it", "swarm: halt", "swarm: Abort coder", "swarm: coder: really", "swarm, TASK: coder no"} {
			said := good
			said.Body = text
			r.listener.hear(onNetwork(said))
		}
		if got := r.waitingFor("coder"); len(got) != 1 || string(got[0].Body) != "[IRC @mention in #project-x] <ann> swarm: coder: really" || r.rec.state.Denied != 4 {
			t.Errorf("coder got %d messages, denied %d\n%s", len(got), r.rec.state.Denied, log)
		}
	})
	t.Run("history is missed, and said so once", func(t *testing.T) {
		r, log := newListener(t, "irc.example", Options{Allow: []Permit{{Account: "ann", May: Rights()}}})
		for _, text := range []string{"coder: do it", "swarm: halt", "TASK: @coder do it"} {
			said := good
			said.Body, said.History, said.Time = text, true, now.Add(-time.Hour)
			r.listener.hear(onNetwork(said))
		}
		if n := len(r.waitingFor("coder")); n > 0 || strings.Count(log.String(), "missed") != 3 || len(r.listener.notices.away) != 1 {
			t.Errorf("coder got %d messages, told %v\n%s", n, r.listener.notices.away, log)
		}
	})
	t.Run("just missed", func(t *testing.T) {
		allow := []Permit{{Account: "ann", May: []Right{Talk, Tasks}}, {Mask: "*!*@*.office.example", May: Rights()}}
		for name, c := range map[string]struct {
			addr, text string
			ago        time.Duration
			change     change
			mails      int
		}{
			"a task, a few seconds ago":   {"irc.example", "TASK: @coder do it", 14 * time.Second, func(*irc.Text) {}, 1},
			"by a server's clock ahead":   {"irc.example", "coder: do it", -2 * time.Second, func(*irc.Text) {}, 1},
			"a minute ago":                {"irc.example", "TASK: @coder do it", time.Minute, func(*irc.Text) {}, 0},
			"without the right":           {"irc.example", "swarm: halt", time.Second, func(*irc.Text) {}, 0},
			"not logged in":               {"irc.example", "TASK: @coder do it", time.Second, func(t *irc.Text) { t.Account, t.Source = "", "ann!a@pc.office.example" }, 0},
			"another account":             {"irc.example", "TASK: @coder do it", time.Second, func(t *irc.Text) { t.Account, t.Source = "eve", "ann!a@pc.office.example" }, 0},
			"a notice":                    {"irc.example", "TASK: @coder do it", time.Second, func(t *irc.Text) { t.Notice = true }, 0},
			"relayed":                     {"irc.example", "TASK: @coder do it", time.Second, func(t *irc.Text) { t.Relayed = true }, 0},
			"played back by a bouncer":    {"", "TASK: @coder do it", time.Second, func(*irc.Text) {}, 0},
			"without an id":               {"irc.example", "TASK: @coder do it", time.Second, func(t *irc.Text) { t.MsgID = "" }, 0},
			"the same line as a live one": {"irc.example", "TASK: @coder do it", time.Second, func(*irc.Text) {}, 1},
		} {
			r, log := newListener(t, c.addr, Options{Allow: allow})
			said := good
			said.Body, said.History, said.Time, said.MsgID = c.text, true, time.Now().Add(-c.ago), "m1"
			c.change(&said)
			r.listener.hear(onNetwork(said))
			if name == "the same line as a live one" { // an earlier bridge was killed before it kept the line
				r.waitingFor("coder")
				r.listener.hear(onNetwork(said))
			}
			if n := len(r.waitingFor("coder")); n != c.mails {
				t.Errorf("%s: coder got %d messages, want %d\n%s", name, n, c.mails, log)
			}
		}
	})
	t.Run("our own", func(t *testing.T) {
		r, log := newListener(t, "127.0.0.1", Options{Allow: []Permit{{Nick: "swarm", May: Rights()}, {Nick: "coder", May: Rights()}}})
		for _, nick := range []string{"swarm", "SWARM", "coder"} {
			said := good
			said.Nick, said.Source, said.Body = nick, nick+"!~a@home", "coder: do it"
			r.listener.hear(onNetwork(said))
		}
		if n := len(r.waitingFor("coder")); n > 0 {
			t.Errorf("coder got %d messages\n%s", n, log)
		}
	})
	t.Run("in earnest", func(t *testing.T) {
		r, log := newListener(t, "irc.example", Options{Allow: []Permit{{Account: "ann", May: Rights()}}})
		said := good
		said.Body = "coder: do it"
		r.listener.hear(onNetwork(said))
		if got := r.waitingFor("coder"); len(got) != 1 {
			t.Errorf("coder got %d messages\n%s", len(got), log)
		}
	})
}

func (r *run) waitingFor(agent string) []*dropbox.Message {
	for r.listener.arrivals.delivering {
		(<-r.listener.arrivals.delivered)()
	}
	box, err := r.mail.store.Mailbox(agent)
	if err != nil {
		panic(err)
	}
	entries, err := box.Peek()
	if err != nil {
		panic(err)
	}
	var all []*dropbox.Message
	for _, e := range entries {
		m, err := box.Read(e)
		if err != nil {
			panic(err)
		}
		all = append(all, m)
	}
	return all
}

func TestTheSameLineIsDeliveredOnce(t *testing.T) {
	r, _ := newListener(t, "irc.example", Options{WakesPerMinute: -1, Allow: []Permit{{Account: "ann", May: Rights()}}})
	said := irc.Text{Time: time.Now(), Target: "#project-x", Source: "ann!~a@h", Nick: "ann", Account: "ann", Body: "coder: once", MsgID: "m1"}
	for range 3 {
		r.listener.hear(onNetwork(said))
	}
	said.MsgID = "" // without ids, two identical lines cannot be distinguished
	r.listener.hear(onNetwork(said))
	r.listener.hear(onNetwork(said))
	said.MsgID = strings.Repeat("x", 5000)
	r.listener.hear(onNetwork(said))
	if n := len(r.waitingFor("coder")); n != 4 {
		t.Errorf("coder got %d messages, want 4", n)
	}
	lines, err := readLines(bufferFile(r.rec.dir, "#project-x"))
	if err != nil || len(lines) != 4 {
		t.Errorf("%d lines are kept, %v, want 4", len(lines), err)
	}
}

// A line enters the buffer only after its message is delivered. Later lines enter the
// buffer after that line. Even after a crash, the buffer therefore contains only lines
// that the bridge has acted on.
func TestALineIsKeptBehindItsMessage(t *testing.T) {
	r, _ := newListener(t, "irc.example", Options{Allow: []Permit{{Account: "ann", May: Rights()}}})
	kept := func() (texts []string) {
		t.Helper()
		lines, err := readLines(bufferFile(r.rec.dir, "#project-x"))
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range lines {
			texts = append(texts, l.Text)
		}
		return texts
	}
	said := irc.Text{Time: time.Now(), Target: "#project-x", Source: "ann!~a@h", Nick: "ann", Account: "ann"}
	all := []string{"coder: do it", "a word to all"}
	for _, said.Body = range all {
		r.listener.hear(onNetwork(said))
	}
	if got := kept(); len(got) > 0 { // the loop has not handled the end of the delivery yet
		t.Errorf("kept before anything is known to be delivered: %q", got)
	}
	if n := len(r.waitingFor("coder")); n != 1 {
		t.Errorf("coder got %d messages", n)
	}
	if got := kept(); !slices.Equal(got, all) {
		t.Errorf("kept %q, want %q", got, all)
	}
}

func TestWhoShowsTags(t *testing.T) {
	tags := func() map[string][]string { return map[string][]string{"go": {"coder", "tester"}, "docs": {"tester"}} }
	for _, c := range []struct {
		tags func() map[string][]string
		want string
	}{{tags, "coder (@go), halt, tester (@docs @go)"}, {nil, "coder, halt, tester"}} {
		if got := strings.Join(withTags([]string{"coder", "halt", "tester"}, c.tags), ", "); got != c.want {
			t.Errorf("withTags = %q, want %q", got, c.want)
		}
	}
}

func TestMeant(t *testing.T) {
	names, nicks := []name{{"coder", "coder"}, {"tester", "tester"}, {"x-tester", "tester"}, {"halt", "halt"}}, []string{"swarm_", "swarm"}
	names = append(names, tagNames(map[string][]string{"go": {"coder", "tester", "gone"}, "docs": {"tester"}}, []string{"coder", "tester", "halt"})...)
	for _, tc := range []struct {
		text    string
		private bool
		agent   string // the agent whose connection received it
		need    Right  // "" if the line addresses neither the bridge nor an agent
		to      string
		order   string
	}{
		{"coder: hello", false, "", Talk, "coder", ""},
		{"hello @coder, and tester", false, "", Talk, "coder tester", ""},
		{"  CODER,hello", false, "", Talk, "coder", ""},
		{"hello all", false, "", "", "", ""},
		{"coders and tester2", false, "", "", "", ""},
		{"swarm", false, "", Talk, "", ""},
		{"swarm: status coder", false, "", Talk, "", "status coder"},
		{"@swarm_ pause coder", false, "", Control, "", "pause coder"},
		{"swarm: HALT!", false, "", Control, "", "HALT!"},
		{"swarm : who", false, "", Talk, "", "who"}, // with a space before the colon, as in French
		{"swarm:\u00a0pause\u00a0coder", false, "", Control, "", "pause coder"},
		{"pause\u00a0coder", true, "", Control, "", "pause coder"},
		{"swarm : coder : go on", false, "", Talk, "coder", ""},
		{"swarm: ??", false, "", Talk, "", "??"},
		{"swarm: halting is bad", false, "", Talk, "", "halting is bad"},
		{"I like swarm", false, "", "", "", ""},
		{"swarm: coder: go on", false, "", Talk, "coder", ""},
		{"swarm: TASK: coder go on", false, "", Tasks, "coder", ""},
		{"TASK: @coder fix what @tester found", false, "", Tasks, "coder", ""},
		{"task: coder, tester: both", false, "", Tasks, "coder tester", ""},
		{"TASK: let coder do it", false, "", Tasks, "coder", ""},
		{"TASK: do it", false, "", Tasks, "", taskWord},
		{"TASK:", false, "", Tasks, "", taskWord},
		{"TASK: @coder", false, "", Tasks, "", taskWord + " coder"},
		{"TASK: coder, tester: ", false, "", Tasks, "", taskWord + " coder"},
		{"TASK:", true, "tester", Tasks, "", taskWord + " tester"},
		{"TASK: coder x", false, "", Tasks, "coder", ""},
		{"MULTITASK: coder", false, "", Talk, "coder", ""},
		{"status", true, "", Talk, "", "status"},
		{"abort coder", true, "", Control, "", "abort coder"},
		{"coder: hello", true, "", Talk, "coder", ""},
		{"hello coder", true, "", Talk, "", "hello coder"},
		{"TASK: coder hello", true, "", Tasks, "coder", ""},
		{"hello", true, "tester", Talk, "tester", ""},
		{"TASK: hello", true, "tester", Tasks, "tester", ""},
		{"coder: hello", true, "tester", Talk, "tester", ""},
		{"x-tester: by your nick", false, "", Talk, "tester", ""},
		{"tester or x-tester", false, "", Talk, "tester", ""},
		{"swarm: halt", false, "", Control, "", "halt"}, // an agent is also named halt
		{"halt", true, "", Control, "", "halt"},
		{"halt: go on", false, "", Talk, "halt", ""},
		{"swarm: halt: go on", false, "", Talk, "halt", ""},
		{"swarm: @halt go on", false, "", Talk, "halt", ""},
		{"@coder resume", false, "", Control, "", "resume coder"}, // in the form that alerts suggest
		{"@coder: ABORT!", false, "", Control, "", "abort coder"},
		{"Reply @x-tester pause", false, "", Control, "", "pause tester"},
		{"@coder abort", true, "", Control, "", "abort coder"},
		{"@coder resume the work", false, "", Talk, "coder", ""},
		{"coder: abort", false, "", Talk, "coder", ""},
		{"@coder unhalt", false, "", Talk, "coder", ""},
		{"swarm: @coder resume", false, "", Control, "", "resume coder"},
		{"swarm: join #x", false, "", Control, "", "join #x"},
		{"swarm: topic #x", false, "", Talk, "", "topic #x"},
		{"swarm: topic #x news", false, "", Control, "", "topic #x news"},
		{"TASK: halt the leak", false, "", Tasks, "halt", ""},
		{"@go: hello", false, "", Talk, "coder tester", ""},
		{"hello @docs", false, "", Talk, "tester", ""},
		{"go: hello docs", false, "", "", "", ""}, // without the @, "go" is an ordinary word
		{"ann@go.example", false, "", "", "", ""},
		{"swarm: @go: hello", false, "", Talk, "coder tester", ""},
		{"@go, @halt: hello", true, "", Talk, "coder tester halt", ""},
		{"TASK: @go fix what @halt found", false, "", Tasks, "coder tester", ""},
		{"TASK: coder, @docs: both", false, "", Tasks, "coder tester", ""},
		{"TASK: tester, @go both", false, "", Tasks, "tester coder", ""},
		{"@go pause", false, "", Talk, "coder tester", ""}, // an order is for one agent only
		{"", false, "", "", "", ""},
		{"@", true, "", Talk, "", "@"},
	} {
		m, ok := meant(tc.text, tc.private, tc.agent, names, nicks, newStub())
		if ok != (tc.need != "") || ok && (m.need != tc.need || !slices.Equal(m.agents, strings.Fields(tc.to)) || m.order != tc.order) {
			t.Errorf("meant(%q, private %v, %q) = %+v, %v, want %s to %s, %q", tc.text, tc.private, tc.agent, m, ok, tc.need, tc.to, tc.order)
		}
	}
}

// A sentence in a private message to the bridge is for the only agent. An order, also a mistyped
// one, stays an order, and with several agents the bridge asks for a name.
func TestAPrivateSentenceIsForTheOnlyAgent(t *testing.T) {
	one, two := []name{{"coder", "coder"}, {"x-coder", "coder"}, {"@go", "coder"}}, []name{{"coder", "coder"}, {"tester", "tester"}}
	for _, c := range []struct {
		names    []name
		text, to string
	}{
		{one, "what is going on", "coder"}, {one, "is it done?", "coder"}, {one, "status", ""}, {one, "pause coder", ""}, {one, "pauze coder", ""}, {one, "foo", ""},
		{one, "reply k7f3q9m2xd yes", ""}, {one, "coder: hello", "coder"}, {two, "what is going on", ""}, {nil, "what is going on", ""},
	} {
		if m, ok := meant(c.text, true, "", c.names, []string{"swarm"}, newStub()); !ok || strings.Join(m.agents, " ") != c.to || m.need == Tasks {
			t.Errorf("%q among %d names: %+v, want it for %q", c.text, len(c.names), m, c.to)
		}
		if m, ok := meant(c.text, false, "", c.names, []string{"swarm"}, newStub()); ok && c.text == "what is going on" {
			t.Errorf("in a channel, %q is %+v", c.text, m)
		}
	}
}

// Only people with the "control" right can answer a question from the daemon. The daemon
// checks the answer's wording and files the question, so in this test the answer alone
// does not close the question.
func TestAnAnswerToTheDaemon(t *testing.T) {
	r, log := newListener(t, "irc.example", Options{Allow: []Permit{{Account: "ann", May: Rights()}, {Account: "joe", May: []Right{Talk, Tasks}}}})
	for _, name := range []string{dropbox.Lead, dropbox.Swarm} {
		if err := r.mail.store.MakeMailbox(name); err != nil {
			t.Fatal(err)
		}
	}
	d, err := r.mail.store.Deliver(dropbox.Lead, &dropbox.Message{From: dropbox.Swarm, Type: dropbox.Question, Subject: "the day has cost $20", Body: []byte("more?")})
	if err != nil {
		t.Fatal(err)
	}
	r.questions.open = append(r.questions.open, question{OpenQuestion: OpenQuestion{ID: d.ID, From: dropbox.Swarm, To: dropbox.Lead, Channel: "#alerts-x", At: time.Now()}})
	for _, line := range []struct{ who, text string }{
		{"joe", "swarm: reply " + d.ID + " more"}, {"joe", "reply " + d.ID[:5] + " more"}, {"joe", "swarm, Reply " + d.ID + " more"},
		{"ann", "swarm: reply " + d.ID + " moar"}, {"ann", "reply " + d.ID[:5] + " more"},
	} {
		r.listener.hear(onNetwork(irc.Text{Time: time.Now(), Target: "#alerts-x", Source: line.who + "!x@home.example", Nick: line.who, Account: line.who, Body: line.text}))
	}
	var got []string
	for _, m := range r.waitingFor(dropbox.Swarm) {
		if m.ReplyTo != d.ID || m.From != "irc" {
			t.Errorf("the daemon got %+v", m)
		}
		got = append(got, strings.TrimSpace(string(m.Body)))
	}
	if want := []string{"[IRC @mention in #alerts-x] <ann> moar", "[IRC @mention in #alerts-x] <ann> more"}; !slices.Equal(got, want) || r.rec.state.Denied != 3 {
		t.Errorf("the daemon got %q, want %q; denied %d\n%s", got, want, r.rec.state.Denied, log)
	}
	if len(r.questions.open) != 1 || len(r.waitingFor(dropbox.Lead)) != 1 {
		t.Error("the question is over before the daemon says so")
	}
	box, err := r.mail.store.Mailbox(dropbox.Lead)
	if err == nil {
		err = box.File(must(box.Peek())[0])
	}
	if err != nil {
		t.Fatal(err)
	}
	if r.questions.sweep(time.Now()); len(r.questions.open) != 0 {
		t.Error("a settled question stays open")
	}
}

// A question that was answered elsewhere accepts no further answer on IRC, and is filed.
func TestAQuestionThatIsOverTakesNoAnswer(t *testing.T) {
	over := ""
	r, _ := newListener(t, "irc.example", Options{
		Allow: []Permit{{Account: "ann", May: Rights()}},
		Over: func(m *dropbox.Message) string {
			if m.ID == over {
				return "bob has already answered"
			}
			return ""
		},
	})
	ask := func() string {
		d, err := r.mail.store.Deliver("irc", &dropbox.Message{From: "coder", Type: dropbox.Question, Body: []byte("Proceed?")})
		if err != nil {
			t.Fatal(err)
		}
		entries := must(r.mail.box.Peek())
		if _, err := r.mail.box.Claim(entries[len(entries)-1]); err != nil {
			t.Fatal(err)
		}
		r.questions.open = append(r.questions.open, question{OpenQuestion: OpenQuestion{ID: d.ID, From: "coder", To: "irc", Channel: "#x", At: time.Now()}, Own: true})
		return d.ID
	}
	for name, ends := range map[string]func(id string){
		"somebody answers": func(id string) {
			r.listener.hear(onNetwork(irc.Text{Time: time.Now(), Target: "#x", Source: "ann!x@home.example", Nick: "ann", Account: "ann", Body: "swarm: reply " + id + " yes"}))
		},
		"a sweep": func(string) { r.questions.sweep(time.Now()) },
	} {
		over = ask()
		ends(over)
		if left := len(must(r.mail.box.Claimed())); len(r.questions.open) != 0 || left != 0 || len(r.waitingFor("coder")) != 0 {
			t.Errorf("%s: %d questions are open, %d claimed, coder has %d messages", name, len(r.questions.open), left, len(r.waitingFor("coder")))
		}
	}
}

// People may see a question, and answer it, before the network confirms it. The answer
// counts, whatever becomes of the attempt.
func TestAnAnswerBeforeItsQuestionIsConfirmed(t *testing.T) {
	for fate, unanswered := range map[Fate]dropbox.State{
		Arrived: dropbox.Claimed, NeverAgain: dropbox.Dead, PutInPart: dropbox.Waiting, Put: dropbox.Waiting, HungUpOn: dropbox.Waiting,
	} {
		for _, answered := range []bool{true, false} {
			want, open := unanswered, 0
			r, log := newListener(t, "irc.example", Options{Allow: []Permit{{Account: "ann", May: Rights()}}})
			if _, err := r.mail.store.Deliver("irc", &dropbox.Message{From: "coder", Type: dropbox.Question, Body: []byte("Proceed?")}); err != nil {
				t.Fatal(err)
			}
			r.outbox.plan = newPlan(r.mail.box, r.outbox.destinationOf)
			w, _, err := r.outbox.plan.next(func(waiter) bool { return true }, false)
			if err != nil {
				t.Fatal(err)
			}
			f := r.beginNext(t, w)
			if answered {
				r.listener.hear(onNetwork(irc.Text{Time: time.Now(), Target: "#project-x", Source: "ann!x@home.example", Nick: "ann", Account: "ann", Body: "swarm: reply " + f.ID + " yes"}))
				want = dropbox.Done
			} else if fate == Arrived {
				open = 1
			}
			r.outbox.landed(r.link.(*stubLink).said[0], Landing{Fate: fate, Why: "because"})
			for len(r.outbox.flights) > 0 {
				(<-r.loop.later)()
			}
			found, _, err := r.mail.find(f.ID)
			if err != nil || found.State != want || len(r.questions.open) != open || (len(r.waitingFor("coder")) > 0) != (answered || fate == NeverAgain) || strings.Contains(log.String(), "ERROR") {
				t.Errorf("fate %v, answered %v: the question is %s (%v), want %s; %d are open; coder has %d messages\n%s", fate, answered, found.State, err, want, len(r.questions.open), len(r.waitingFor("coder")), log)
			}
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
