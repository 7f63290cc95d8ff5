package supervisor_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/supervisor"
)

// script creates a recording from lines in the format of testdata/calm/seen.txt.
func script(t *testing.T, lines ...string) recording {
	t.Helper()
	w := newWriter(t.Name(), "claude")
	for _, line := range lines {
		w.line(t, line)
	}
	return w.recording()
}

// rungs lists the whispers, as 1 and 2, and the escalations, in order.
func (h *heard) rungs() string {
	var all []string
	for _, w := range h.whispers {
		all = append(all, fmt.Sprint(w.Rung))
	}
	for range h.escalations {
		all = append(all, "escalation")
	}
	return strings.Join(all, " ")
}

const (
	fails  = "Bash `make deploy` x Exit code 1\\nno credentials"
	stays  = "Bash `make status` = starting"
	other  = "Grep `word` = found"
	edited = "Edit `a.go|1` = The file a.go has been updated."
)

// Each case contains the steps of an agent and the expected rungs.
func TestWhatIsFlagged(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"twice is fine":                      {[]string{"2x " + fails}, ""},
		"three times":                        {[]string{"3x " + fails}, "1"},
		"four times, and the end":            {[]string{"4x " + fails}, "1 2 escalation"},
		"four times, words, and the end":     {[]string{"4x " + fails, "> I give up."}, "1 2 escalation"},
		"four times, and a question":         {[]string{"4x " + fails, "mcp__dead-drop__ask `{}` = yes"}, "1 2"},
		"four times, and something else":     {[]string{"4x " + fails, other}, "1 2"},
		"four times, and a call cut off":     {[]string{"4x " + fails, "Grep `word` ..."}, "1 2 escalation"},
		"five times":                         {[]string{"5x " + fails}, "1 2 escalation"},
		"once each":                          {[]string{"20x " + fails}, "1 2 escalation"},
		"three times, and the end":           {[]string{"3x " + fails, "> Done."}, "1"},
		"a file changed between":             {[]string{"2x " + stays, edited, "2x " + stays}, ""},
		"the same change three times":        {[]string{"3x " + edited}, "1"},
		"an edit that failed changes none":   {[]string{"2x Bash `make` = no", "Edit `a.go|1` x not found", "Bash `make` = no"}, "1"},
		"a command that may change a file":   {[]string{"2x " + stays, "Bash `npm install` = added", "2x " + stays}, ""},
		"a command that only reads":          {[]string{"2x " + fails, "Bash `git status | head -3` = clean", fails}, "1"},
		"a command that reads into a file":   {[]string{"2x " + stays, "Bash `cat a > b` = ", "2x " + stays}, ""},
		"a command that waits changes none":  {[]string{"2x " + fails, "Bash `sleep 5` = ", fails}, "1"},
		"another result between":             {[]string{"2x Bash `make` = no", "Bash `make` = yes", "2x Bash `make` = no"}, ""},
		"other times in the result":          {[]string{"Bash `make` = took 0.1s", "Bash `make` = took 0.25 s", "Bash `make` = took 12.0ms"}, "1"},
		"other numbers in the result":        {[]string{"3x Bash `make` = # jobs"}, ""},
		"read again among other things":      {[]string{"Read `a` = a", "Read `b` = b", "Read `a` = a", "Read `c` = c", "Read `a` = a"}, ""},
		"read again at once":                 {[]string{"3x Read `a` = a"}, "1"},
		"read again and nothing new between": {[]string{"Read `b` = b", "Read `a` = a", "Read `b` = b", "Read `a` = a", "Read `b` = b", "Read `a` = a"}, "1"},
		"a wait never counts":                {[]string{"9x mcp__dead-drop__ask `{}` x no answer", "9x Bash `sleep 9; make` = no", "9x TaskOutput `{}` = runs", "9x mcp__dead-drop__irc_ask `{}` = no"}, ""},
		"our other tools count":              {[]string{"3x mcp__dead-drop__inbox `{}` = nothing"}, "1"},
		"other descriptions":                 {[]string{"3x Task `{\"description\":\"try #\",\"prompt\":\"p\"}` = no"}, "1"},
		"another order of the input":         {[]string{"2x Task `{\"a\":1,\"b\":2}` = no", "Task `{\"b\":2, \"a\":1}` = no"}, "1"},
		"other inputs":                       {[]string{"3x Task `{\"prompt\":\"p#\"}` = no"}, ""},
		"another message between":            {[]string{"2x " + fails, "--- message", "2x " + fails}, ""},
		"another turn of the message":        {[]string{"2x " + fails, "--- turn", fails}, "1"},
		"a compaction between":               {[]string{"2x " + fails, "--- compact", "2x " + fails}, ""},
		"in one message":                     {[]string{fails, "& " + fails, "& " + fails, fails}, ""},
		"sub-agents are not compared":        {[]string{"@a " + fails, "@b " + fails, "@c " + fails, fails}, ""},
		"a sub-agent alone":                  {[]string{"@a 3x " + fails}, "1"},
		"a sub-agent whose agent is deaf":    {[]string{"@a 9x " + fails}, "1"},
		"a sub-agent whose agent hears":      {[]string{"@a 3x " + fails, other, "@a " + fails}, "1 2"},
		"the same failure of other calls":    {[]string{"Bash `git push a` x denied", "Bash `git push b` x denied", "Bash `git push c` x denied"}, "1"},
		"the same failure after a cd":        {[]string{"Bash `cd x && git push a` x denied", "Bash `git push b` x denied", "Bash `git push -f` x denied"}, "1"},
		"the same failure of two programs":   {[]string{"2x Bash `git push a` x denied", "2x Bash `git pull b` x denied"}, ""},
		"failures without words":             {[]string{"Bash `curl a` x Exit code 7", "Bash `curl a b` x Exit code 7", "Bash `curl a c` x Exit code 7"}, ""},
		"a success between failures":         {[]string{"Bash `git push a` x denied", "Bash `git push b` x denied", "Bash `git push d` = ok", "Bash `git push c` x denied", "Bash `git push e` x denied"}, ""},
		"failures with changes count half":   {[]string{fails, edited, "Bash `make deploy -k` x no credentials", "Edit `a.go|2` = ok", fails, "Edit `a.go|3` = ok", "Bash `make deploy -x` x no credentials"}, ""},
		"five failures with changes":         {[]string{fails, edited, "Bash `make deploy -k` x no credentials", "Edit `a.go|2` = ok", fails, "Edit `a.go|3` = ok", "Bash `make deploy -x` x no credentials", "Edit `a.go|4` = ok", fails}, "1"},
		"one file, another text":             {[]string{"3x Edit `a.go|#` x String to replace not found.\\n#"}, "1"},
		"three files":                        {[]string{"3x Read `a#` x does not exist"}, ""},
		"clean after five steps":             {[]string{"3x " + fails, "2x Grep `a#` = #", edited, "3x " + stays, other}, "1 1"},
		"not clean after four steps":         {[]string{"3x " + fails, "1x Grep `a#` = #", edited, "3x " + stays, other}, "1 2"},
		"words are no clean step":            {[]string{"3x " + fails, "1x Grep `a#` = #", "> a", "> b", "> c", edited, "3x " + stays, other}, "1 2"},
	} {
		h := watch(usual, script(t, c.lines...))
		if got := h.rungs(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestStepsWithoutChange(t *testing.T) {
	s := usual
	s.Interval = 40 // fewer than 40 read-only steps do not produce a clean verdict
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"29":                     {[]string{"29x Grep `a#` = #"}, ""},
		"30":                     {[]string{"30x Grep `a#` = #"}, "1"},
		"59":                     {[]string{"59x Grep `a#` = #"}, "1"},
		"60":                     {[]string{"60x Grep `a#` = #"}, "1 2"},
		"60, and the end":        {[]string{"60x Grep `a#` = #", "> Done."}, "1 2"},
		"90":                     {[]string{"90x Grep `a#` = #"}, "1 2 escalation"},
		"a change in between":    {[]string{"29x Grep `a#` = #", edited, "29x Grep `b#` = #"}, ""},
		"a command in between":   {[]string{"29x Grep `a#` = #", "Bash `make` = ok", "29x Grep `b#` = #"}, ""},
		"a message in between":   {[]string{"29x Grep `a#` = #", "--- message", "29x Grep `b#` = #"}, ""},
		"a turn in between":      {[]string{"29x Grep `a#` = #", "--- turn", "Grep `b` = b"}, "1"},
		"a compaction between":   {[]string{"29x Grep `a#` = #", "--- compact", "Grep `b` = b"}, "1"},
		"waits and mail":         {[]string{"29x Grep `a#` = #", "mcp__dead-drop__ask `{}` = yes", "9x mcp__dead-drop__send `{\"to\":\"#\"}` = sent #", "> words", "Bash `sleep 5` = "}, ""},
		"a sub-agent":            {[]string{"29x Grep `a#` = #", "@s 40x Grep `b#` = #"}, ""},
		"a sub-agent that edits": {[]string{"29x Grep `a#` = #", "@s " + edited, "29x Grep `b#` = #"}, ""},
	} {
		h := watch(s, script(t, c.lines...))
		if got := h.rungs(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		rec := script(t, c.lines...)
		rec.readonly = true
		if h := watch(s, rec); h.rungs() != "" {
			t.Errorf("%s, of an agent that may not write: %q", name, h.rungs())
		}
	}
	// With the usual interval, there is no clean verdict between the verdicts of this
	// rule.
	h := watch(usual, script(t, "90x Grep `a#` = #"))
	if got := h.rungs(); got != "1 2 escalation" {
		t.Errorf("90 steps: %q", got)
	}
}

func TestRulesCanBeOff(t *testing.T) {
	lines := []string{"9x " + fails, "9x Edit `a.go|#` x no", "60x Grep `a#` = #"}
	off := usual
	off.SameCall, off.SameError, off.StepsWithoutChange = 0, 0, 0
	if h := watch(off, script(t, lines...)); h.rungs() != "" {
		t.Errorf("all off: %q", h.rungs())
	}
	for name, s := range map[string]supervisor.Settings{
		"same_call 5":  {Window: 20, Interval: 5, Threshold: 9, Rules: supervisor.Rules{SameCall: 5}},
		"same_error 5": {Window: 20, Interval: 5, Threshold: 9, Rules: supervisor.Rules{SameError: 5}},
		"changes 6":    {Window: 20, Interval: 5, Threshold: 9, Rules: supervisor.Rules{StepsWithoutChange: 6}},
	} {
		lines := map[string]string{"same_call 5": fails, "same_error 5": fails, "changes 6": "Grep `a#` = #"}
		n := map[string]int{"same_call 5": 5, "same_error 5": 5, "changes 6": 6}[name]
		if h := watch(s, script(t, fmt.Sprintf("%dx %s", n-1, lines[name]))); h.rungs() != "" {
			t.Errorf("%s, one step less: %q", name, h.rungs())
		}
		if h := watch(s, script(t, fmt.Sprintf("%dx %s", n, lines[name]))); h.rungs() != "1" {
			t.Errorf("%s: %q", name, h.rungs())
		}
	}
}

// A loop is detected if it fits in the window.
func TestTheWindow(t *testing.T) {
	s := supervisor.Settings{Window: 5, Interval: 50, Threshold: 3, Rules: supervisor.Rules{SameCall: 3}}
	loop := func(between int) recording {
		var lines []string
		for i := range 3 {
			lines = append(lines, fails)
			for j := range between {
				lines = append(lines, fmt.Sprintf("Grep `a%d%d` = x", i, j))
			}
		}
		return script(t, lines...)
	}
	if h := watch(s, loop(1)); h.rungs() != "1" {
		t.Errorf("5 steps in a window of 5: %q", h.rungs())
	}
	if h := watch(s, loop(2)); h.rungs() != "" {
		t.Errorf("7 steps in a window of 5: %q", h.rungs())
	}
	s.Window = 6
	if h := watch(s, loop(2)); h.rungs() != "" {
		t.Errorf("7 steps in a window of 6: %q", h.rungs())
	}
	s.Window = 7
	if h := watch(s, loop(2)); h.rungs() != "1" {
		t.Errorf("7 steps in a window of 7: %q", h.rungs())
	}
	// Steps by sub-agents do not push the agent's own steps out of the window.
	if h := watch(s, script(t, "2x "+fails, "@s 30x Grep `a#` = #", fails)); h.rungs() != "1" {
		t.Errorf("with a busy sub-agent: %q", h.rungs())
	}
}

func TestTheWordsOfAWhisper(t *testing.T) {
	h := watch(usual, script(t, "4x "+fails))
	want := []supervisor.Whisper{
		{ID: "m1-0-3-1", Agent: "coder", Turn: "m1-0", Action: supervisor.Correction, Rung: 1, Message: "You tried the same thing 3 times, with the same result each time: make deploy. No file changed in between, so another try will give you the same result again. Read what the result says, then change something or try another way."},
		{ID: "m1-0-4-2", Agent: "coder", Turn: "m1-0", Action: supervisor.Correction, Rung: 2, Message: "You tried the same thing 4 times, with the same result each time: make deploy. Stop this now and do something else. If you are stuck, ask for what you need. If this continues, you will be paused and a person will be asked."},
	}
	if diff := cmp.Diff(want, h.whispers); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := h.whispers[0].Text(); !strings.HasPrefix(got, "[SUPERVISOR/CORRECTION] You tried") {
		t.Errorf("Text() = %q", got)
	}
	e := []supervisor.Escalation{{ID: "m1-0-4-3", Agent: "coder", Turn: "m1-0", Task: t.Name(), Retries: 4, Why: "Retried same approach 4 times.", Details: "It repeats: make deploy"}}
	if diff := cmp.Diff(e, h.escalations); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// People and their scripts rely on this text. The bridge prefixes it with the nick.
func TestTheTextOfAnEscalation(t *testing.T) {
	e := supervisor.Escalation{Agent: "spark-culture", Task: "benchmark nemotron", Retries: 4, Why: "Retried same approach 4 times."}
	want := `[ESCALATION] Agent spark-culture appears stuck on task "benchmark nemotron". Retried same approach 4 times. Awaiting human guidance. Reply @spark-culture resume/abort`
	if got := e.Text(); got != want {
		t.Errorf("Text() =\n%s, want\n%s", got, want)
	}
	h := watch(usual, script(t, "90x Grep `a#` = #"))
	if len(h.escalations) != 1 || h.escalations[0].Why != "Changed no file in 90 steps." || h.escalations[0].Retries != 0 {
		t.Errorf("%+v", h.escalations)
	}
}

// After an escalation, the supervisor is silent until a person lets the agent continue.
func TestAPersonLetsItGoOn(t *testing.T) {
	for name, resume := range map[string]func(*supervisor.Watch){
		"resumed":        (*supervisor.Watch).Resume,
		"another turn":   func(*supervisor.Watch) {},
		"resumed, twice": func(w *supervisor.Watch) { w.Resume(); w.Resume() },
	} {
		var h heard
		w := supervisor.New(h.options(usual)).Watch("coder")
		play(w, script(t, "30x "+fails))
		if h.rungs() != "1 2 escalation" {
			t.Errorf("%s: %q", name, h.rungs())
		}
		resume(w)
		h = heard{}
		play(w, script(t, "2x "+fails))
		if h.rungs() != "" {
			t.Errorf("%s: earlier steps count: %q", name, h.rungs())
		}
		play(w, script(t, fails))
		if h.rungs() != "1" {
			t.Errorf("%s: %q, want the first whisper again", name, h.rungs())
		}
	}
}

// The threshold is the number of bad verdicts that lead to an escalation. After a single
// whisper, the end of a turn does not count as a bad verdict.
func TestThresholds(t *testing.T) {
	for threshold, want := range map[int]string{1: "escalation", 2: "1 escalation", 3: "1 2 escalation", 4: "1 2 2 escalation", 5: "1 2 2 2 escalation"} {
		s := usual
		s.Threshold = threshold
		if h := watch(s, script(t, "9x "+fails)); h.rungs() != want {
			t.Errorf("threshold %d: %q, want %q", threshold, h.rungs(), want)
		}
	}
	s := usual
	s.Threshold = 2
	if h := watch(s, script(t, "3x "+fails)); h.rungs() != "1" {
		t.Errorf("one whisper and the end: %q", h.rungs())
	}
	s.Threshold = 4
	if h := watch(s, script(t, "4x "+fails)); h.rungs() != "1 2" {
		t.Errorf("threshold 4, two whispers and the end: %q", h.rungs())
	}
}

// Steps from another session are not compared.
func TestAnotherSession(t *testing.T) {
	rec := script(t, "4x "+fails)
	events := rec.turns[0].events
	for i := range events[4:] { // after the first two calls
		events[4+i].Session = "another"
	}
	if h := watch(usual, rec); h.rungs() != "" {
		t.Errorf("%q", h.rungs())
	}
}

// Steps of different agents are not compared, and steps before Forget do not count.
func TestAgentsApart(t *testing.T) {
	var h heard
	sup := supervisor.New(h.options(usual))
	play(sup.Watch("coder"), script(t, "2x "+fails))
	play(sup.Watch("tester"), script(t, "2x "+fails))
	if h.rungs() != "" {
		t.Errorf("%q", h.rungs())
	}
	sup.Forget("coder")
	play(sup.Watch("coder"), script(t, "2x "+fails))
	if h.rungs() != "" {
		t.Errorf("forgotten: %q", h.rungs())
	}
	if first := sup.Watch("tester"); sup.Watch("tester") != first {
		t.Error("an agent has two watches")
	}
}

// New settings take effect immediately.
func TestConfigure(t *testing.T) {
	var h heard
	sup := supervisor.New(h.options(usual))
	s := usual
	s.SameCall = 2
	sup.Configure(s, nil)
	play(sup.Watch("coder"), script(t, "2x "+fails))
	if h.rungs() != "1" {
		t.Errorf("%q", h.rungs())
	}
}

// A later daemon that follows a turn reads the same events, and must assign the same ids
// to the whispers, so that no whisper is sent twice.
func TestTheSameEventsGiveTheSameIDs(t *testing.T) {
	rec := script(t, "4x "+fails)
	if diff := cmp.Diff(watch(usual, rec), watch(usual, rec), cmp.AllowUnexported(heard{})); diff != "" {
		t.Error(diff)
	}
	// The ids contain the number of the step in its turn.
	h := watch(usual, script(t, "2x "+fails, "--- turn", fails))
	if len(h.whispers) != 1 || h.whispers[0].ID != "m1-1-1-1" {
		t.Errorf("%+v", h.whispers)
	}
}

// The client's own messages, API errors and unknown events are not steps.
func TestOddEvents(t *testing.T) {
	var h heard
	w := supervisor.New(h.options(usual)).Watch("coder")
	w.Event(&streamjson.Event{Kind: streamjson.KindAssistant}) // before the first turn
	w.End()
	rec := script(t, "3x "+fails)
	var events []streamjson.Event
	for _, ev := range rec.turns[0].events {
		text := []streamjson.Block{{Kind: streamjson.BlockText, Text: "API Error"}}
		events = append(events, ev,
			streamjson.Event{Kind: streamjson.KindAssistant, Synthetic: true, Blocks: text},
			streamjson.Event{Kind: streamjson.KindAssistant, Error: "rate_limit", Blocks: text},
			streamjson.Event{Kind: streamjson.KindAssistant, MessageID: "empty"},
			streamjson.Event{Kind: streamjson.KindUser, Blocks: []streamjson.Block{{Kind: streamjson.BlockToolResult, ID: "unknown"}}},
			streamjson.Event{Kind: streamjson.KindBad})
	}
	rec.turns[0].events = events
	play(w, rec)
	if h.rungs() != "1" {
		t.Errorf("%q", h.rungs())
	}
}

// For a client without message ids, the first call or text after a result starts a new
// message.
func TestStepsWithoutIDs(t *testing.T) {
	call := func(id string) streamjson.Event {
		return streamjson.Event{Kind: streamjson.KindAssistant, Blocks: []streamjson.Block{{Kind: streamjson.BlockToolUse, ID: id, Name: "execute", Input: []byte(`{"command":"make"}`)}}}
	}
	result := func(id string) streamjson.Event {
		return streamjson.Event{Kind: streamjson.KindUser, Blocks: []streamjson.Block{{Kind: streamjson.BlockToolResult, ID: id, Text: "no"}}}
	}
	words := streamjson.Event{Kind: streamjson.KindAssistant, Blocks: []streamjson.Block{{Kind: streamjson.BlockText, Text: "again"}}}
	for name, c := range map[string]struct {
		events []streamjson.Event
		want   string
	}{
		"three steps":           {[]streamjson.Event{call("a"), result("a"), call("b"), result("b"), call("c"), result("c"), words, call("d")}, "1"},
		"words before each":     {[]streamjson.Event{words, call("a"), result("a"), words, call("b"), result("b"), words, words, call("c"), result("c"), words, call("d")}, "1"},
		"three at once":         {[]streamjson.Event{call("a"), call("b"), call("c"), result("a"), result("b"), result("c")}, ""},
		"two at once, two more": {[]streamjson.Event{call("a"), call("b"), result("b"), result("a"), words, call("c"), result("c")}, ""},
		"two at once, and two":  {[]streamjson.Event{call("a"), call("b"), result("b"), result("a"), call("c"), result("c"), call("d"), result("d"), words, call("e")}, "1"},
	} {
		w := newWriter(name, "codex")
		rec := w.recording()
		rec.turns[0].events = c.events
		if h := watch(usual, rec); h.rungs() != c.want {
			t.Errorf("%s: %q, want %q", name, h.rungs(), c.want)
		}
	}
}

// A message from Claude Code is one step, although it is split into several events, some
// of which follow a result.
func TestAMessageInPieces(t *testing.T) {
	rec := script(t, fails, fails, fails)
	events := rec.turns[0].events
	for i := range events {
		if events[i].MessageID != "" {
			events[i].MessageID = "msg"
		}
	}
	if h := watch(usual, rec); h.rungs() != "" {
		t.Errorf("one message: %q", h.rungs())
	}
	// A result event ends the message. If the same id appears afterwards, it belongs to
	// another message.
	rec = script(t, "2x "+fails)
	rec.turns[0].events = append(rec.turns[0].events, streamjson.Event{Kind: streamjson.KindResult}, rec.turns[0].events[2])
	if h := watch(usual, rec); h.rungs() != "" {
		t.Errorf("%q", h.rungs())
	}
}
