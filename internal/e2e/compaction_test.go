package e2e_test

import (
	"strings"
	"testing"
)

// After a real compaction, the hook restores the newest part of the window in the same
// turn, and the next prompt begins with the older part. Nothing is restored twice, and no
// second compaction follows. The same is true of a client with linger, which exits after
// the compaction.
func TestARealCompactionGivesTheWindowBack(t *testing.T) {
	t.Parallel()
	for linger, clients := range map[string]int{"0s": 6, "10m": 2} {
		t.Run("linger "+linger, func(t *testing.T) {
			t.Parallel()
			testARealCompaction(t, linger, clients)
		})
	}
}

func testARealCompaction(t *testing.T, linger string, clients int) {
	long := strings.Repeat("a line of older history, one of many\\n", 250) // 9,500 characters when encoded as JSON
	p := newProject(t, `{"replies":[
		{"name":"oldest","match":{"last_user_contains":"First task"},"text":"OLDEST-WORD `+long+`","context_tokens":15000},
		{"name":"middle","match":{"last_user_contains":"Second task"},"text":"MIDDLE-WORD `+long+`","context_tokens":20000},
		{"name":"fill","match":{"last_user_contains":"Third task"},"text":"NEWEST-WORD","context_tokens":68000},
		{"name":"compacted","match":{"last_user_contains":"Fourth task"},"text":"AFTER-WORD","context_tokens":15000},
		{"name":"rest","times":-1,"text":"Done.","context_tokens":16000}],
		"compact":{"name":"summary","text":"<summary>They worked on tasks.</summary>"}}`, `  coder:
    role: coder
    compact_window: 100000
    linger: `+linger+`
`)
	p.start()
	for _, task := range []string{"First task", "Second task", "Third task", "Fourth task", "Fifth task", "Sixth task"} {
		p.receipt("coder", p.send("coder", task))
	}
	reqs := p.requests()
	byReply := map[string]turnRequest{}
	rest := []turnRequest{}
	for _, r := range reqs {
		byReply[r.Reply] = r
		if r.Reply == "rest" {
			rest = append(rest, r)
		}
	}
	fourth, ok := byReply["compacted"]
	if !ok || len(rest) != 2 {
		t.Fatalf("requests: %d, %v", len(reqs), byReply)
	}
	if !strings.Contains(fourth.All, "NEWEST-WORD") || !strings.Contains(fourth.All, "What you did last, word for word") {
		t.Error("the newest part did not come back in the turn that compacted")
	}
	if strings.Contains(fourth.All, "OLDEST-WORD") {
		t.Error("the hook gave back more than the newest part")
	}
	fifth := rest[0].LastUser
	if !strings.Contains(fifth, "RECENT HISTORY") || !strings.Contains(fifth, "OLDEST-WORD") {
		t.Errorf("the older rest did not come at the head of the next prompt:\n%.2000s", fifth)
	}
	if strings.Contains(fifth, "NEWEST-WORD") || strings.Contains(fifth, "AFTER-WORD") {
		t.Error("the next prompt repeats what the hook gave, or what came after the boundary")
	}
	if strings.Contains(rest[1].LastUser, "RECENT HISTORY") {
		t.Error("the window came back a second time")
	}
	if got := p.streams(); len(got) != clients {
		t.Errorf("%d clients were started for six messages, want %d", len(got), clients)
	}
	if n := p.api.Stats().Answered["summary"]; n != 1 {
		t.Errorf("the CLI compacted %d times, want once", n)
	}
}

// One command makes the client summarize a conversation, and another makes the client
// drop the conversation.
func TestContextIsCompactedAndCleared(t *testing.T) {
	t.Parallel()
	p := newProject(t, `{"replies":[
		{"name":"rest","times":-1,"text":"MY-WORD.","context_tokens":16000}],
		"compact":{"name":"summary","text":"<summary>They worked on SUMMED-UP tasks.</summary>"}}`, `  coder:
    role: coder
`)
	p.start()
	for _, task := range []string{"First task", "Second task"} {
		p.receipt("coder", p.send("coder", task))
	}
	session := p.agent("coder").Session
	p.swarm("compact", "coder")
	p.until("the compaction", func() bool { return p.api.Stats().Answered["summary"] == 1 })
	p.receipt("coder", p.send("coder", "Third task"))
	reqs := p.requests()
	last := reqs[len(reqs)-1]
	if last.Session != session || !strings.Contains(last.All, "SUMMED-UP") || strings.Contains(last.All, "First task") {
		t.Errorf("the third task is not worked on in the compacted session %s but in %s:\n%.3000s", session, last.Session, last.All)
	}
	if !strings.Contains(last.All, "MY-WORD") {
		t.Error("the window did not come back")
	}

	p.write(".dead-drop/board/handoff/coder.md", "Go on with the parser.\n")
	p.swarm("clear", "coder")
	p.receipt("coder", p.send("coder", "Fourth task"))
	reqs = p.requests()
	last = reqs[len(reqs)-1]
	if last.Session == session || strings.Contains(last.All, "SUMMED-UP") || strings.Contains(last.All, "MY-WORD") {
		t.Errorf("the request of the fourth task contains the old session:\n%.3000s", last.All)
	}
	if !strings.Contains(last.LastUser, "board/handoff/coder.md") {
		t.Errorf("the handoff is not named:\n%s", last.LastUser)
	}
}
