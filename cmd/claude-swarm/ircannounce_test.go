package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/ircbridge"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
)

// Each case has an announcement and the lines that the channels show for it.
func TestAnnouncer(t *testing.T) {
	message := func(kind dropbox.Type, from string) *dropbox.Message {
		return &dropbox.Message{ID: "aaaaaaaaaa", Type: kind, From: from, Thread: "aaaaaaaaaa", Body: []byte("Paint the door")}
	}
	begun := func(kind dropbox.Type, from string) notice.Announcement {
		m := message(kind, from)
		return notice.Announcement{Kind: journal.Begun, Message: m, Of: m, To: "coder", Agent: "coder", About: m.ID}
	}
	ended := func(how journal.Kind, kind dropbox.Type, from string) notice.Announcement {
		m := message(kind, from)
		return notice.Announcement{Kind: how, Message: &dropbox.Message{From: "coder", Type: dropbox.Result, Thread: m.Thread}, Of: m, To: from, Agent: "coder", About: "bbbbbbbbbb"}
	}
	arrived := func(kind dropbox.Type, from string) notice.Announcement {
		mo := notice.Announcement{Kind: journal.Mail, Message: message(kind, from), To: "lead", About: "aaaaaaaaaa"}
		if kind == dropbox.Question && from != dropbox.Swarm {
			mo.Notice = &journal.Notice{Word: journal.AgentQuestion, Agent: from, Why: "the beginning"}
		}
		return mo
	}
	complete := func(from string) notice.Announcement {
		mo := ended(journal.Result, dropbox.Task, from)
		mo.Task, mo.Notice = mo.Of, &journal.Notice{Word: journal.AgentComplete, Agent: "coder", Task: "the beginning"}
		return mo
	}
	onIRC := func(place string) notice.Announcement {
		m := message(dropbox.Question, "coder")
		m.Thread = ""
		return notice.Announcement{Kind: journal.Noticed, Message: m, To: "irc", Agent: "coder", About: m.ID, Notice: &journal.Notice{Word: journal.AgentQuestion, Agent: "coder", Why: "the beginning", Place: place}}
	}
	asked := begun(dropbox.Task, "irc")
	asked.Of.Extra = bridge.Origin{Channel: "#standup-x", Nick: "ann"}.Extra(ircbridge.Name)
	answered := complete("irc")
	answered.Of.Extra = asked.Of.Extra
	answered.Of.Body, answered.Of.To = []byte("[IRC @mention in #standup-x] <ann> TASK: @coder, Paint the door"), []string{"coder"}
	privately := complete("irc")
	privately.Of.Extra = bridge.Origin{Channel: "ann", Nick: "ann"}.Extra(ircbridge.Name)
	back := ended(journal.Result, dropbox.Result, "reviewer") // the turn that worked on the delegated task's result
	back.Of.ID, back.Message.Body = "cccccccccc", []byte("It is green.\nTwice.\n")
	delegated := func(from, channel string) notice.Announcement {
		mo := back
		mo.Task = message(dropbox.Task, from)
		mo.Task.To = []string{"coder"}
		mo.Notice = &journal.Notice{Word: journal.AgentComplete, Agent: "coder", Why: string(mo.Message.Body)}
		if channel != "" {
			mo.Task.Extra = bridge.Origin{Channel: channel, Nick: "ann"}.Extra(ircbridge.Name)
		}
		return mo
	}
	stopped := message(dropbox.Status, "swarm")
	stopped.Key = "stopped:coder:now"
	if c := newIRCAnnouncer(config.IRC{Server: "x", Channels: config.IRCChannels{Alerts: "#alerts"}}).Copies(notice.Announcement{Kind: journal.Alert, Message: stopped}); len(c) != 1 || c[0].Text != "[ERROR] Paint the door" {
		t.Errorf("an alert is shown as %+v", c)
	}
	family := complete("lead")
	family.Of.Body = []byte("Paint the door 👩‍👩‍👧\nred")
	alert := notice.Announcement{Kind: journal.Alert, Message: message(dropbox.Status, "swarm"), To: "lead", About: "aaaaaaaaaa"}
	permitted := notice.Announcement{Kind: journal.Permission, Message: message(dropbox.Status, "coder"), To: "lead", About: "aaaaaaaaaa", Agent: "coder"}
	noticed := func(kind journal.Kind, word journal.Word, why string) notice.Announcement {
		mo := notice.Announcement{Kind: kind, Message: message(dropbox.Status, "swarm"), To: "lead", About: "aaaaaaaaaa", Agent: "coder"}
		mo.Notice = &journal.Notice{Word: word, Agent: "coder", Why: why}
		return mo
	}
	resumed := noticed(journal.Noticed, journal.Unpaused, "resumed by ann (account ann) on IRC")
	resumed.Notice.By = "ann (account ann) on IRC"
	aborted := ended(journal.Dead, dropbox.Task, "lead")
	aborted.Message.From = "swarm"
	dead := aborted
	dead.Notice = &journal.Notice{Word: journal.DeadLetter, Agent: "coder", Task: "the beginning", Why: "failed: no luck"}
	crashed := ended(journal.Failed, dropbox.Task, "lead")
	crashed.Notice = &journal.Notice{Word: journal.AgentError, Agent: "coder", Why: "crashed: process exited with code 1"}

	const usual, work, mapped = `irc: {server: localhost, slug: x}`, `irc: {server: localhost, slug: x, work_channels: true}`,
		`irc: {server: localhost, slug: x, map: [{type: question, channel: none}, {moment: result, from: coder, to: lead, channel: "done-{slug}"}, {moment: dead, channel: alerts}, {moment: agent_error, channel: none}, {moment: unpaused, channel: none}, {moment: limit, channel: limits}]}`
	const noErrors = `irc: {server: localhost, slug: x, channels: {errors: }}`
	const own = "with a channel of coder's"
	for _, test := range []struct {
		what, yaml string
		moment     notice.Announcement
		want       string // for each line: channel, how, to, text
	}{
		{"a task of the lead", usual, begun(dropbox.Task, "lead"), "#standup-x begun coder; #project-x said coder"},
		{"a task of the lead for an agent with a channel", own, begun(dropbox.Task, "lead"), "#standup-x begun coder; #api-x said coder"},
		{"its question to the lead", own, arrived(dropbox.Question, "coder"), "#api-x said lead; #alerts alert lead [QUESTION] coder needs input: \"Paint the door\" To answer: reply aaaaaaaaaa …"},
		{"a question of another one", own, arrived(dropbox.Question, "reviewer"), "#project-x said lead; #alerts alert lead [QUESTION] reviewer needs input: \"Paint the door\" To answer: reply aaaaaaaaaa …"},
		{"a task among agents", usual, begun(dropbox.Task, "reviewer"), "#standup-x begun coder"},
		{"a handoff", usual, begun(dropbox.Handoff, "reviewer"), "#standup-x begun coder"},
		{"a question among agents", usual, begun(dropbox.Question, "reviewer"), ""},
		{"a question of the lead", usual, begun(dropbox.Question, "lead"), "#project-x said coder"},
		{"a result that wakes", usual, begun(dropbox.Result, "reviewer"), ""},
		{"an alert that wakes", usual, begun(dropbox.Task, "swarm"), ""},
		{"a task from the channel", usual, asked, "#standup-x begun coder"},
		{"its result, which is the answer there", usual, answered, "#alerts alert coder [COMPLETE] coder finished task \"Paint the door\". Results in #standup-x."},
		{"what was asked for privately", usual, privately, "#standup-x ended irc; #alerts alert coder [COMPLETE] coder finished task \"Paint the door\"."},
		{"a result that is not all", usual, ended(journal.Result, dropbox.Task, "lead"), "#standup-x ended lead"},
		{"the end of what was delegated", usual, delegated("lead", ""), "#project-x said  It is green.\nTwice.; #alerts alert coder [COMPLETE] coder finished task \"Paint the door\": It is green. Twice. Results in #project-x."},
		{"the same, given in a channel", usual, delegated("irc", "#project-x"), "#project-x said  It is green.\nTwice.; #alerts alert coder [COMPLETE] coder finished task \"Paint the door\": It is green. Twice. Results in #project-x."},
		{"a result", usual, complete("lead"), "#standup-x ended lead; #alerts alert coder [COMPLETE] coder finished task \"Paint the door\". Results in #project-x."},
		{"a task with an emoji", usual, family, "#standup-x ended lead; #alerts alert coder [COMPLETE] coder finished task \"Paint the door 👩‍👩‍👧 red\". Results in #project-x."},
		{"a result among agents", usual, ended(journal.Result, dropbox.Task, "reviewer"), "#standup-x ended reviewer"},
		{"an answer to a question", usual, ended(journal.Result, dropbox.Question, "reviewer"), ""},
		{"a failure", usual, ended(journal.Failed, dropbox.Task, "lead"), "#standup-x failed coder"},
		{"a question to the lead", usual, arrived(dropbox.Question, "coder"), "#project-x said lead; #alerts alert lead [QUESTION] coder needs input: \"Paint the door\" To answer: reply aaaaaaaaaa …"},
		{"a question to people on IRC", usual, onIRC("#project-x"), "#alerts alert coder [QUESTION] coder needs input: \"Paint the door\" (#project-x) To answer: reply aaaaaaaaaa …"},
		{"a question to one person", usual, onIRC("ann"), "#alerts alert coder [QUESTION] coder needs input: \"Paint the door\" (ann) To answer: reply aaaaaaaaaa …"},
		{"one that is asked there", usual, onIRC("#Alerts"), ""},
		{"a question from the daemon", work, arrived(dropbox.Question, "swarm"), "#alerts said lead"},
		{"a result to the lead", usual, arrived(dropbox.Result, "coder"), "#project-x said lead"},
		{"what IRC told the lead", usual, arrived(dropbox.Note, "irc"), ""},
		{"an alert", usual, alert, "#alerts alert lead [ALERT] Paint the door"},
		{"an alert with a notice", usual, noticed(journal.Alert, journal.AgentError, "is stopped: the key is wrong"), "#alerts alert coder [ERROR] coder is stopped: the key is wrong"},
		{"a notice alone", work, noticed(journal.Noticed, journal.Unpaused, "resumed by lead"), "#alerts alert coder [UNPAUSED] coder goes on: resumed by lead."},
		{"what somebody on IRC did, who has the answer", usual, resumed, ""},
		{"a notice that a rule hides", mapped, noticed(journal.Noticed, journal.Unpaused, "resumed by lead"), ""},
		{"an alert that a rule shows elsewhere by its word", mapped, noticed(journal.Alert, journal.LimitReached, "waits"), "#limits alert coder [LIMIT] coder waits."},
		{"what became of a question for a permission", own, permitted, "#api-x said  [PERMISSION] Paint the door"},
		{"a dead letter", usual, dead, "#errors alert coder [DEAD] coder gave up \"Paint the door\": failed: no luck."},
		{"a dead letter without a channel for errors", noErrors, dead, "#alerts alert coder [DEAD] coder gave up \"Paint the door\": failed: no luck."},
		{"an aborted message", usual, aborted, "#errors dead coder"},
		{"a crash", usual, crashed, "#standup-x failed coder; #alerts alert coder [ERROR] coder crashed: process exited with code 1"},
		{"a crash that a rule hides by its word", mapped, crashed, "#standup-x failed coder"},
		{"a channel for the task", work, begun(dropbox.Task, "lead"), "join #work-aaaaaaaaaa; #standup-x begun coder; #project-x said coder; #work-aaaaaaaaaa begun coder"},
		{"what else is said of it", work, arrived(dropbox.Status, "coder"), "#project-x said lead; #work-aaaaaaaaaa said lead"},
		{"which ends with all of it", work, complete("lead"), "#standup-x ended lead; #alerts alert coder [COMPLETE] coder finished task \"Paint the door\". Results in #project-x.; #work-aaaaaaaaaa ended lead"},
		{"a question has none", work, begun(dropbox.Question, "lead"), "#project-x said coder"},
		{"hidden by a rule", mapped, begun(dropbox.Question, "lead"), ""},
		{"led elsewhere by a rule", mapped, ended(journal.Result, dropbox.Task, "lead"), "#done-x ended lead"},
		{"by a rule that does not fit", mapped, ended(journal.Result, dropbox.Task, "reviewer"), "#standup-x ended reviewer"},
		{"dead letters elsewhere", mapped, dead, "#alerts alert coder [DEAD] coder gave up \"Paint the door\": failed: no luck."},
		{"without IRC", "{}", begun(dropbox.Task, "lead"), ""},
	} {
		t.Run(test.what, func(t *testing.T) {
			yaml := test.yaml + "\nagents: {coder: , reviewer: }\n"
			if test.yaml == own {
				yaml = usual + "\nagents: {coder: {channels: [\"api-{slug}\"]}, reviewer: }\n"
			}
			if test.yaml == "{}" {
				yaml = "agents: {coder: , reviewer: }\n"
			}
			f, err := config.Parse("/x/claude-swarm.yaml", []byte(yaml))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, c := range newIRCAnnouncer(f.IRC).Copies(test.moment) {
				n, ok := bridge.OriginOf(&dropbox.Message{Extra: c.Extra}, ircbridge.Name)
				if !ok {
					t.Fatalf("the note %q cannot be read", c.Extra)
				}
				if n.Do != "" {
					got = append(got, string(n.Do)+" "+n.Channel)
					continue
				}
				how := string(n.Announces)
				if how == "" {
					how = "said"
				}
				if n.About != test.moment.About {
					t.Errorf("about %s, want %s", n.About, test.moment.About)
				}
				got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", n.Channel, how, n.To, c.Text)))
			}
			if s := strings.Join(got, "; "); s != test.want {
				t.Errorf("shown as\n%q, want\n%q", s, test.want)
			}
		})
	}
}

// An alert calls people if an agent waits for them, and stays quiet if it only informs.
func TestAnAlertCallsPeopleIfTheyMustAct(t *testing.T) {
	stopped := &dropbox.Message{From: dropbox.Swarm, Type: dropbox.Status, Key: "stopped:coder:now"}
	for what, c := range map[string]struct {
		mo   notice.Announcement
		want bool
	}{
		"a question":             {notice.Announcement{Notice: &journal.Notice{Word: journal.AgentQuestion}}, true},
		"a stuck agent":          {notice.Announcement{Notice: &journal.Notice{Word: journal.AgentSpiraling, Held: true}}, true},
		"a stuck agent, whisper": {notice.Announcement{Notice: &journal.Notice{Word: journal.AgentSpiraling}}, false},
		"a spent budget":         {notice.Announcement{Notice: &journal.Notice{Word: journal.BudgetReached, Held: true}}, true},
		"most of a budget":       {notice.Announcement{Notice: &journal.Notice{Word: journal.BudgetReached}}, false},
		"a stopped agent":        {notice.Announcement{Notice: &journal.Notice{Word: journal.AgentError, Held: true}}, true},
		"a crash":                {notice.Announcement{Notice: &journal.Notice{Word: journal.AgentError}}, false},
		"a stop without notice":  {notice.Announcement{Kind: journal.Alert, Message: stopped}, true},
		"done":                   {notice.Announcement{Notice: &journal.Notice{Word: journal.AgentComplete}}, false},
	} {
		if got := callsPeople(c.mo); got != c.want {
			t.Errorf("%s: calls %t, want %t", what, got, c.want)
		}
	}
}

// Trouble in the quiet hours is shown only where people talk to the agent, once to each of them.
func TestTroubleIsToldWherePeopleTalk(t *testing.T) {
	f, err := config.Parse("/x/claude-swarm.yaml", []byte("irc: {server: localhost}\nagents: {coder: }\n"))
	if err != nil {
		t.Fatal(err)
	}
	line := func(channel, nick string) *dropbox.Message {
		return &dropbox.Message{From: "irc", Extra: bridge.Origin{Channel: channel, Nick: nick}.Extra(ircbridge.Name)}
	}
	mo := notice.Announcement{
		Kind: journal.Noticed, Agent: "coder", Message: &dropbox.Message{From: dropbox.Swarm, Body: []byte("x\n")},
		Notice: &journal.Notice{Word: journal.AgentSpiraling, Agent: "coder", Task: "deploy", Why: "Retried same approach 4 times", Held: true},
		Talk:   []*dropbox.Message{line("#general", "ann"), line("bob", "bob"), line("#other", "ann"), {From: "irc"}},
	}
	var got []string
	for _, c := range newIRCAnnouncer(f.IRC).Copies(mo) {
		o, _ := bridge.OriginOf(&dropbox.Message{Extra: c.Extra}, ircbridge.Name)
		got = append(got, o.Channel+" "+string(o.Announces)+" "+c.Text)
	}
	const text = `[ESCALATION] Agent coder appears stuck on task "deploy". Retried same approach 4 times. Awaiting human guidance. Reply @coder resume/abort`
	if want := []string{"#general alert ann: " + text, "bob alert " + text}; !slices.Equal(got, want) {
		t.Errorf("shown:\n%q, want\n%q", got, want)
	}
}
