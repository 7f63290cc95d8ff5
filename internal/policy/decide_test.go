package policy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/policy"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// ask returns the question about a proven task from coder to reviewer, with the changes
// applied.
func ask(changes ...func(*policy.Question)) policy.Question {
	q := policy.Question{To: "reviewer", Proven: true, Now: noon, Message: &dropbox.Message{
		ID: "aaaaaaaaaa", From: "coder", To: []string{"reviewer"}, Type: dropbox.Task, Thread: "tttttttttt",
		Hops: 1, Path: []string{"coder"}, Created: noon, Body: []byte("Please look at it.\n"),
	}}
	for _, change := range changes {
		change(&q)
	}
	return q
}

type change = func(*policy.Question)

func from(name string) change { return func(q *policy.Question) { q.Message.From = name } }
func to(name string) change {
	return func(q *policy.Question) { q.To, q.Message.To = name, []string{name} }
}
func typed(t dropbox.Type) change { return func(q *policy.Question) { q.Message.Type = t } }
func body(s string) change        { return func(q *policy.Question) { q.Message.Body = []byte(s) } }
func hops(n int) change           { return func(q *policy.Question) { q.Message.Hops = n } }
func path(names ...string) change {
	return func(q *policy.Question) { q.Message.Path, q.Message.Hops = names, len(names) }
}
func halted(why string) change { return func(q *policy.Question) { q.Halted = why } }
func replyTo(id string) change { return func(q *policy.Question) { q.Message.ReplyTo = id } }
func everybody(names ...string) change {
	return func(q *policy.Question) { q.Message.To = names }
}
func on(topic string) change            { return func(q *policy.Question) { q.Message.Topic = topic } }
func unproven(q *policy.Question)       { q.Proven = false }
func beforeDelivery(q *policy.Question) { q.BeforeDelivery = true }
func spent(why string) change           { return func(q *policy.Question) { q.Spent = why } }
func fromLead(q *policy.Question) {
	q.Message.From, q.Message.Hops, q.Message.Path = dropbox.Lead, 0, nil
}

// TestRules tests every rule that does not need a past: below, at and above its limit,
// and with messages to which the rule does not apply.
func TestRules(t *testing.T) {
	loose := policy.Policy{}
	access := policy.Default()
	access.Agents = []string{"coder", "reviewer", "tester"}
	access.Access = map[string]policy.Access{
		"coder":  {Direct: []string{"reviewer"}, NoBroadcast: true},
		"tester": {Direct: []string{}},
	}
	bridged := policy.Default()
	bridged.Access = map[string]policy.Access{"coder": {Direct: []string{"irc"}}}
	topics := policy.Default()
	topics.Access = map[string]policy.Access{"coder": {Direct: []string{}, Publish: []string{"task.*"}}}
	few := policy.Default()
	few.Types = []dropbox.Type{dropbox.Task, dropbox.Result}
	strict := policy.Default()
	strict.RefuseUnproven = true

	for name, c := range map[string]struct {
		rules policy.Policy
		q     policy.Question
		want  policy.Rule // "" if the message passes
		halts bool
	}{
		"an ordinary task": {policy.Default(), ask(), "", false},

		"unproven, where that is allowed":       {policy.Default(), ask(unproven), "", false},
		"unproven, where it is refused":         {strict, ask(unproven), policy.RuleUnproven, false},
		"unproven from the lead, refused":       {strict, ask(unproven, fromLead), policy.RuleUnproven, false},
		"proven, where unproven is refused":     {strict, ask(), "", false},
		"the daemon's own, where it is refused": {strict, ask(from("swarm")), "", false},

		"in the name of the daemon":     {policy.Default(), ask(unproven, from("swarm")), policy.RuleReserved, false},
		"in the name of a human":        {policy.Default(), ask(unproven, from("human")), policy.RuleReserved, false},
		"of the operator":               {policy.Default(), ask(unproven, from("operator")), policy.RuleReserved, false},
		"of the supervisor":             {policy.Default(), ask(unproven, from("supervisor")), policy.RuleReserved, false},
		"of all":                        {policy.Default(), ask(unproven, from("all")), policy.RuleReserved, false},
		"before delivery, with a token": {policy.Default(), ask(beforeDelivery, from("swarm")), policy.RuleReserved, false},
		"of the lead, unproven":         {policy.Default(), ask(unproven, fromLead), "", false},
		"of another agent":              {policy.Default(), ask(unproven, from("tester")), "", false},
		"of a bridge":                   {policy.Default(), ask(unproven, from("irc")), "", false},

		"an allowed type":             {few, ask(), "", false},
		"a type that is not allowed":  {few, ask(typed(dropbox.Question)), policy.RuleType, false},
		"the lead's, not allowed too": {few, ask(fromLead, typed(dropbox.Handoff)), policy.RuleType, false},
		"the daemon's status":         {few, ask(from("swarm"), typed(dropbox.Status)), "", false},
		"any type where it is off":    {loose, ask(typed(dropbox.Handoff)), "", false},

		"one byte below":                {policy.Default(), ask(body(strings.Repeat("x", 8191))), "", false},
		"8,192 bytes":                   {policy.Default(), ask(body(strings.Repeat("x", 8192))), "", false},
		"one byte more":                 {policy.Default(), ask(body(strings.Repeat("x", 8193))), policy.RuleSize, false},
		"a long result before delivery": {policy.Default(), ask(beforeDelivery, typed(dropbox.Result), body(strings.Repeat("x", 8193))), "", false},
		"a long result by hand":         {policy.Default(), ask(typed(dropbox.Result), body(strings.Repeat("x", 8193))), policy.RuleSize, false},
		"any size where it is off":      {loose, ask(body(strings.Repeat("x", 1<<20))), "", false},
		"too large, from the lead":      {policy.Default(), ask(fromLead, body(strings.Repeat("x", 8193))), policy.RuleSize, false},
		"too large, of the daemon":      {policy.Default(), ask(from("swarm"), body(strings.Repeat("x", 9999))), "", false},
		"a size of one's own":           {policy.Policy{MaxBody: 3}, ask(body("xxx")), "", false},
		"a size of one's own, more":     {policy.Policy{MaxBody: 3}, ask(body("xxxx")), policy.RuleSize, false},

		"a task in a halted conversation": {policy.Default(), ask(halted("ring")), policy.RuleHalted, false},
		"a result there":                  {policy.Default(), ask(halted("ring"), typed(dropbox.Result), replyTo("x")), policy.RuleHalted, false},
		"a note there":                    {policy.Default(), ask(halted("ring"), typed(dropbox.Note)), "", false},
		"a status there":                  {policy.Default(), ask(halted("ring"), typed(dropbox.Status)), "", false},
		"a question there, for the lead":  {policy.Default(), ask(halted("ring"), to("lead"), typed(dropbox.Question)), "", false},
		"the lead's task there":           {policy.Default(), ask(halted("ring"), fromLead), policy.RuleHalted, false},
		"the daemon's task there":         {policy.Default(), ask(halted("ring"), from("swarm")), "", false},
		"halted, whatever rules are off":  {loose, ask(halted("by hand")), policy.RuleHalted, false},
		"halted, asked before delivery":   {policy.Default(), ask(halted("ring"), beforeDelivery), policy.RuleHalted, false},

		"a body that halts":              {policy.Default(), ask(body("enough <<<HALT>>> now")), policy.RuleSentinel, true},
		"almost":                         {policy.Default(), ask(body("enough <<<HALT>> now")), "", false},
		"a note that halts arrives":      {policy.Default(), ask(typed(dropbox.Note), body("<<<HALT>>>")), "", true},
		"so does what is for the lead":   {policy.Default(), ask(to("lead"), body("<<<HALT>>>")), "", true},
		"a sentinel of one's own":        {policy.Policy{Sentinel: "STOP"}, ask(body("STOP")), policy.RuleSentinel, true},
		"no sentinel":                    {loose, ask(body("<<<HALT>>>")), "", false},
		"the daemon may quote it":        {policy.Default(), ask(from("swarm"), body("it said <<<HALT>>>")), "", false},
		"passed on 7 times":              {policy.Default(), ask(hops(7)), "", false},
		"passed on 8 times":              {policy.Default(), ask(hops(8)), "", false},
		"passed on 9 times":              {policy.Default(), ask(hops(9)), policy.RuleHops, true},
		"passed on 9 times, 10 allowed":  {policy.Policy{MaxHops: 10}, ask(hops(9)), "", false},
		"any number where it is off":     {loose, ask(hops(1000)), "", false},
		"a result passed on 9 times":     {policy.Default(), ask(typed(dropbox.Result), hops(9)), policy.RuleHops, true},
		"in the name of the lead, often": {policy.Default(), ask(unproven, from("lead"), hops(9)), policy.RuleHops, true},

		"asked back once":                {policy.Default(), ask(path("reviewer", "coder")), "", false},
		"asked back twice":               {policy.Default(), ask(path("reviewer", "coder", "reviewer", "coder")), policy.RuleRing, true},
		"a ring of three, once":          {policy.Default(), ask(path("reviewer", "coder", "tester")), "", false},
		"a ring of three, a second time": {policy.Default(), ask(path("reviewer", "coder", "tester", "reviewer", "coder", "tester")), policy.RuleRing, true},
		"a result of the second round":   {policy.Default(), ask(typed(dropbox.Result), path("reviewer", "coder", "reviewer", "coder")), "", false},
		"a note of the second round":     {policy.Default(), ask(typed(dropbox.Note), path("reviewer", "coder", "reviewer", "coder")), "", false},
		"to the lead in any round":       {policy.Default(), ask(to("lead"), path("lead", "coder", "lead", "coder")), "", false},
		"mail to oneself is not a ring":  {policy.Default(), ask(to("coder"), path("coder", "coder", "coder", "coder")), "", false},
		"nor after another's":            {policy.Default(), ask(to("coder"), path("coder", "tester", "coder", "coder")), "", false},
		"two rounds, three allowed":      {policy.Policy{MaxReturns: 3}, ask(path("reviewer", "coder", "reviewer", "coder")), "", false},
		"any round where it is off":      {loose, ask(path("reviewer", "coder", "reviewer", "coder", "reviewer", "coder")), "", false},
		"a handoff that goes round":      {policy.Default(), ask(typed(dropbox.Handoff), path("reviewer", "coder", "reviewer", "coder")), policy.RuleRing, true},

		"to one on the list":               {access, ask(), "", false},
		"to one who is not":                {access, ask(to("tester")), policy.RuleACL, false},
		"to the lead, always":              {access, ask(to("lead")), "", false},
		"to oneself, always":               {access, ask(to("coder")), "", false},
		"to a bridge that is not listed":   {access, ask(to("irc")), policy.RuleACL, false},
		"to a bridge that is listed":       {bridged, ask(to("irc")), "", false},
		"an answer, always":                {access, ask(to("tester"), typed(dropbox.Result), replyTo("bbbbbbbbbb")), "", false},
		"a result that answers nothing":    {access, ask(to("tester"), typed(dropbox.Result)), policy.RuleACL, false},
		"an empty list":                    {access, ask(from("tester")), policy.RuleACL, false},
		"an agent without a list":          {access, ask(from("reviewer"), to("tester")), "", false},
		"the lead needs no list":           {access, ask(fromLead, to("tester")), "", false},
		"a file that a turn left":          {access, ask(from("lead"), unproven, path("coder"), to("tester")), policy.RuleACL, false},
		"to all at once":                   {access, ask(everybody("reviewer", "tester")), policy.RuleACL, false},
		"to all by that name":              {access, ask(everybody("all")), policy.RuleACL, false},
		"to all at once, without a list":   {access, ask(from("reviewer"), to("coder"), everybody("coder", "tester")), "", false},
		"no list at all":                   {policy.Default(), ask(to("tester")), "", false},
		"published on a topic of the list": {topics, ask(on("task.created")), "", false},
		"on another one":                   {topics, ask(on("review.completed")), policy.RuleACL, false},
		"offered, whomever to":             {topics, ask(on("task.created"), to("tester")), "", false},
		"spent":                            {policy.Default(), ask(spent("5.00 USD of 5.00 are spent")), policy.RuleCost, false},
		"spent, and the lead asks":         {policy.Default(), ask(fromLead, spent("5.00 USD of 5.00 are spent")), policy.RuleCost, false},
		"spent, and it wakes nobody":       {policy.Default(), ask(typed(dropbox.Note), spent("5.00 USD of 5.00 are spent")), "", false},
		"spent, asked before delivery":     {policy.Default(), ask(beforeDelivery, spent("5.00 USD of 5.00 are spent")), "", false},
		"several rules: the first counts":  {few, ask(typed(dropbox.Question), hops(9), body(strings.Repeat("x", 9000))), policy.RuleType, false},
	} {
		t.Run(name, func(t *testing.T) {
			v := c.rules.Decide(nil, c.q)
			check(t, v, c.want, c.halts)
			if v.Pass {
				return
			}
			for what, text := range map[string]string{"reason": v.Reason, "next step": v.Next} {
				if text == "" || strings.ContainsAny(text, "\n\r") {
					t.Errorf("%s %q, want one line", what, text)
				}
			}
		})
	}
}

// check compares a verdict with the rule that should refuse the message, or "" if none
// should.
func check(t *testing.T, v policy.Verdict, want policy.Rule, halts bool) {
	t.Helper()
	if v.Pass != (want == "") || !v.Pass && v.Rule != want || v.Halt != halts {
		t.Errorf("%+v, want rule %q, halt %v", v, want, halts)
	}
}

// A gate is a test's policy gate that numbers its questions.
type gate struct {
	t *testing.T
	*policy.Gate
	n int
}

func newGate(t *testing.T, p policy.Policy) *gate {
	return &gate{t: t, Gate: policy.NewGate(p, nil)}
}

// say asks about a new message that was sent the given time after noon.
func (g *gate) say(after time.Duration, changes ...change) policy.Verdict {
	g.n++
	q := ask(changes...)
	q.Message.ID = fmt.Sprintf("id%08d", g.n)
	q.Message.Created, q.Now = noon.Add(after), noon.Add(max(after, 0))
	return g.Ask(q)
}

// alone gives each message a separate conversation and a different body.
func (g *gate) alone(q *policy.Question) {
	q.Message.Thread = fmt.Sprintf("thread%d", g.n)
	q.Message.Body = []byte(strings.Repeat("x", g.n))
}

// other gives each message a different body.
func (g *gate) other(q *policy.Question) { q.Message.Body = []byte(strings.Repeat("y", g.n)) }

func TestRates(t *testing.T) {
	for name, c := range map[string]struct {
		n       int // messages that pass
		rule    policy.Rule
		halts   bool
		changes func(g *gate) []change
		rules   policy.Policy
	}{
		"60 of a sender": {60, policy.RuleSenderRate, false, func(g *gate) []change { return []change{g.alone} }, policy.Default()},
		"60 of one who is not proven": {60, policy.RuleSenderRate, false,
			func(g *gate) []change { return []change{g.alone, unproven} }, policy.Default()},
		"30 in a conversation": {30, policy.RuleThreadRate, true, func(g *gate) []change { return []change{g.other} }, policy.Default()},
		"30 of several": {30, policy.RuleThreadRate, true, func(g *gate) []change {
			return []change{g.other, from([]string{"coder", "tester"}[g.n%2])}
		}, policy.Default()},
		"5 of a sender":         {5, policy.RuleSenderRate, false, func(g *gate) []change { return []change{g.alone} }, policy.Policy{PerSender: 5}},
		"3 in a conversation":   {3, policy.RuleThreadRate, true, func(g *gate) []change { return nil }, policy.Policy{PerThread: 3}},
		"files in lead's name":  {30, policy.RuleThreadRate, true, func(g *gate) []change { return []change{g.other, from("lead"), unproven} }, policy.Default()},
		"any number where off":  {1000, "", false, func(g *gate) []change { return nil }, policy.Policy{}},
		"any number of a lead":  {1000, "", false, func(g *gate) []change { return []change{fromLead} }, policy.Default()},
		"any number by hand":    {1000, "", false, func(g *gate) []change { return []change{fromLead, unproven} }, policy.Default()},
		"any number of answers": {1000, "", false, func(g *gate) []change { return []change{typed(dropbox.Result), replyTo(fmt.Sprint(g.n))} }, policy.Default()},
		"any number of alerts":  {1000, "", false, func(g *gate) []change { return []change{from("swarm")} }, policy.Default()},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGate(t, c.rules)
			for i := range c.n {
				g.n++
				changes := c.changes(g)
				g.n--
				if v := g.say(0, changes...); !v.Pass {
					t.Fatalf("message %d: %+v", i+1, v)
				}
			}
			if c.rule == "" {
				return
			}
			g.n++
			changes := c.changes(g)
			g.n--
			check(t, g.say(0, changes...), c.rule, c.halts)
		})
	}
}

// After a full minute, the same number of messages passes again; after half a minute,
// half as many pass.
func TestRatesFillAgain(t *testing.T) {
	for after, room := range map[time.Duration]int{0: 0, time.Second: 1, 30 * time.Second: 30, time.Minute: 60, time.Hour: 60} {
		g := newGate(t, policy.Policy{PerSender: 60})
		for range 60 {
			check(t, g.say(0, g.alone), "", false)
		}
		for range room {
			check(t, g.say(after, g.alone), "", false)
		}
		check(t, g.say(after, g.alone), policy.RuleSenderRate, false)
	}
}

// A flood is detected by the times at which its messages were sent, even if they are
// claimed slowly and other messages are claimed between them.
func TestAFloodToASlowAgent(t *testing.T) {
	g := newGate(t, policy.Policy{PerSender: 60})
	passed := 0
	for i := range 200 { // all sent within one second, but only one claimed every ten seconds
		claimed := time.Duration(i) * 10 * time.Second
		check(t, g.say(claimed, to("tester")), "", false) // a message to another agent, at an allowed rate
		q := ask()
		q.Message.ID = fmt.Sprintf("flood%05d", i)
		q.Message.Created, q.Now = noon.Add(time.Duration(i)*5*time.Millisecond), noon.Add(claimed)
		if g.Ask(q).Pass {
			passed++
		}
	}
	if passed != 60 {
		t.Errorf("%d of a flood passed, want 60", passed)
	}
}

// Messages that waited for a long time are counted at the times at which they were sent.
func TestAnHonestBacklogPasses(t *testing.T) {
	g := newGate(t, policy.Default())
	for i := range 300 { // one sent every ten seconds, but all claimed at the same time
		q := ask(body(fmt.Sprint(strings.Repeat("x", i))))
		q.Message.ID = fmt.Sprintf("late%06d", i)
		q.Message.Created, q.Now = noon.Add(time.Duration(i)*10*time.Second), noon.Add(24*time.Hour)
		check(t, g.Ask(q), "", false)
	}
}

// A retried message is not counted again, and is not an echo of itself.
func TestATryIsNotCounted(t *testing.T) {
	g := newGate(t, policy.Policy{PerSender: 2, PerThread: 2, MaxEchoes: 1})
	q := ask()
	for range 100 {
		check(t, g.Ask(q), "", false)
	}
	check(t, g.say(0), "", false)
	check(t, g.say(0), policy.RuleSenderRate, false)
}

// Messages that others send in an agent's name do not count toward its rate.
func TestImpersonationTakesNoRoom(t *testing.T) {
	g := newGate(t, policy.Default())
	for range 60 {
		check(t, g.say(0, g.alone, unproven), "", false)
	}
	check(t, g.say(0, g.alone, unproven), policy.RuleSenderRate, false)
	check(t, g.say(0, g.alone), "", false)
}

func TestEchoes(t *testing.T) {
	back := func(q *policy.Question) { q.Message.From, q.To = q.To, q.Message.From }
	type turn struct {
		after   time.Duration
		changes []change
	}
	same := turn{}
	times := func(n int, turns ...turn) []turn { return slices.Repeat(turns, n) }
	for name, c := range map[string]struct {
		rules policy.Policy
		turns []turn // all but the last pass
		want  policy.Rule
	}{
		"two echoes":                {policy.Default(), times(3, same), ""},
		"a third echo":              {policy.Default(), times(4, same), policy.RuleEcho},
		"to and fro":                {policy.Default(), times(2, same, turn{changes: []change{back}}), policy.RuleEcho},
		"question and reply":        {policy.Default(), append(times(3, same, turn{changes: []change{back, body("and you?")}}), same), policy.RuleEcho},
		"other whitespace and case": {policy.Default(), append(times(3, same), turn{changes: []change{body("  PLEASE look\n\nat\tit. ")}}), policy.RuleEcho},
		"other numbers":             {policy.Default(), append(times(3, turn{changes: []change{body("try 1 at 10:30 of 2026-11-21: 1.5 s")}}), turn{changes: []change{body("try 27 at 9:05 of 2026-11-22: 12 s")}}), policy.RuleEcho},
		"another word":              {policy.Default(), append(times(3, same), turn{changes: []change{body("Please look at that.")}}), ""},
		"an hour later":             {policy.Default(), append(times(3, same), turn{after: time.Hour}), ""},
		"just before":               {policy.Default(), append(times(3, same), turn{after: time.Hour - time.Second}), policy.RuleEcho},
		"the same to others":        {policy.Default(), []turn{same, {changes: []change{to("a")}}, {changes: []change{to("b")}}, {changes: []change{to("c")}}, {changes: []change{to("d")}}}, ""},
		"in another conversation":   {policy.Default(), append(times(3, same), turn{changes: []change{func(q *policy.Question) { q.Message.Thread = "other" }}}), ""},
		"after a word of the lead":  {policy.Default(), append(append(times(3, same), turn{changes: []change{fromLead}}), times(3, same)...), ""},
		"the lead repeats itself":   {policy.Default(), times(9, turn{changes: []change{fromLead}}), ""},
		"the daemon repeats itself": {policy.Default(), times(9, turn{changes: []change{from("swarm")}}), ""},
		"answers to several":        {policy.Default(), times(9, turn{changes: []change{typed(dropbox.Result), replyTo("someone")}}), ""},
		"results that answer none":  {policy.Default(), times(4, turn{changes: []change{typed(dropbox.Result)}}), policy.RuleEcho},
		"one echo allowed":          {policy.Policy{MaxEchoes: 1}, times(3, same), policy.RuleEcho},
		"nine echoes allowed":       {policy.Policy{MaxEchoes: 9}, times(10, same), ""},
		"any number where off":      {policy.Policy{}, times(60, same), ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGate(t, c.rules)
			for i, turn := range c.turns {
				v := g.say(turn.after, turn.changes...)
				if i < len(c.turns)-1 {
					if !v.Pass {
						t.Fatalf("message %d: %+v", i+1, v)
					}
					continue
				}
				check(t, v, c.want, c.want != "")
			}
		})
	}
}

// An answer to an answer is not owed, so the rules apply to it.
func TestAnAnswerToAnAnswerIsAnEcho(t *testing.T) {
	g := newGate(t, policy.Default())
	last := ""
	for i := range 20 {
		v := g.say(0, typed(dropbox.Result), replyTo(last), body("Thank you!"))
		if !v.Pass {
			check(t, v, policy.RuleEcho, true)
			if i < 3 {
				t.Errorf("refused at message %d", i+1)
			}
			return
		}
		last = fmt.Sprintf("id%08d", g.n)
	}
	t.Error("two agents thank each other forever")
}

// When a halted conversation continues, its earlier messages no longer count.
func TestAHaltedConversationBeginsAnew(t *testing.T) {
	g := newGate(t, policy.Default())
	for range 2 {
		for range 3 {
			check(t, g.say(0), "", false)
		}
		check(t, g.say(0), policy.RuleEcho, true)
	}
}

func TestSubjects(t *testing.T) {
	p := policy.Policy{Access: map[string]policy.Access{
		"planner":  {Publish: []string{"task.*", "review.requested"}, Subscribe: []string{"result.>", "status.*"}},
		"reviewer": {Publish: []string{}},
	}}
	for agent, subjects := range map[string]map[string]bool{
		"planner":  {"task.created": true, "review.requested": true, "review.completed": false, "task.created.now": false, "task": false},
		"reviewer": {"review.completed": false},
		"coder":    {"anything.at.all": true},
	} {
		for subject, may := range subjects {
			if v := p.Publish(agent, subject); v.Pass != may || !may && (v.Rule != policy.RuleACL || v.Reason == "") {
				t.Errorf("%s publishes %s: %+v, want %v", agent, subject, v, may)
			}
		}
	}
	for pattern, may := range map[string]bool{
		"result.done": true, "result.a.b": true, "result.>": true, "result.*": true, "result": false,
		"status.*": true, "status.>": false, "*": false, ">": false, "*.done": false, "status.a.b": false,
	} {
		if v := p.Subscribe("planner", pattern); v.Pass != may {
			t.Errorf("planner subscribes to %s: %+v, want %v", pattern, v, may)
		}
	}
}
