package mcpserver_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/dropbox/topic"
	"github.com/claude-swarm/claude-swarm/internal/policy"
)

// as sets the caller of the next calls.
func (p *project) as(name string) {
	p.env = nil
	if name != dropbox.Lead {
		p.env = asAgent(name)
	}
}

// Work passes from its publisher to the agent that claims it, and the result passes back,
// with and without a daemon.
func TestPublishedWorkByTools(t *testing.T) {
	for name, d := range map[string]*daemon{"with a daemon": idle(), "without a daemon": nil} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t, asAgent("reviewer"))
			p.daemon = d
			if err := os.WriteFile(filepath.Join(p.dir, "notes.txt"), []byte("see here\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			out, text := p.call("subscribe", `{"patterns":["task.*","review.>"]}`)
			if got := out["patterns"].([]any); out["name"] != "reviewer" || len(got) != 2 || text != "reviewer subscribes to review.> task.*" {
				t.Errorf("subscribe = %v, %q", out, text)
			}
			p.as("coder")
			out, text = p.call("publish", `{"topic":"task.created","text":"Port it.","subject":"the parser","priority":"urgent","attach":["notes.txt"],"key":"once"}`)
			id, _ := out["id"].(string)
			offered := out["offered"].([]any)
			if len(id) != 10 || len(offered) != 1 || offered[0].(map[string]any)["to"] != "reviewer" || !strings.Contains(text, "as "+id) || !strings.Contains(text, "For: reviewer.") {
				t.Fatalf("publish = %v, %q", out, text)
			}
			if note, _ := out["note"].(string); strings.Contains(note, "No daemon is running") != (d == nil) {
				t.Errorf("note %q", note)
			}
			if out, text := p.call("publish", `{"topic":"task.created","text":"Port it.","key":"once"}`); out["id"] != id || out["duplicate"] != true || !strings.Contains(text, "a duplicate of "+id) {
				t.Errorf("published again = %v, %q", out, text)
			}

			p.as("reviewer")
			list := p.waiting("reviewer")
			if len(list) != 1 || list[0].Offer != id || list[0].From != "coder" || list[0].Priority != dropbox.Urgent || len(list[0].Attachments) != 1 {
				t.Fatalf("reviewer was offered %+v", list)
			}
			out, text = p.call("inbox", `{}`)
			if m := out["messages"].([]any)[0].(map[string]any); m["offer"] != id || m["topic"] != "task.created" || !strings.Contains(text, "claim it before you do it") {
				t.Errorf("inbox = %v, %q", out, text)
			}
			out, text = p.call("topics", `{}`)
			if open := out["open"].([]any); len(open) != 1 || open[0].(map[string]any)["id"] != id || open[0].(map[string]any)["claimed"] != "" || !strings.Contains(text, id+" on task.created from coder: the parser") {
				t.Errorf("topics = %v, %q", out, text)
			}
			out, text = p.call("claim", `{"id":"`+list[0].ID[4:]+`"}`) // the id of an offer also identifies the work
			if out["id"] != id || out["agent"] != "reviewer" || out["from"] != "coder" || !strings.Contains(text, "close it with ack") {
				t.Errorf("claim = %v, %q", out, text)
			}
			p.call("claim", `{"id":"`+id+`"}`) // repeating the claim is harmless
			p.as(dropbox.Lead)
			if got := p.fails("claim", `{"id":"`+id+`"}`); !strings.Contains(got, id+" is already claimed by reviewer") {
				t.Errorf("claimed by two: %q", got)
			}
			if got := p.fails("ack", `{"id":"`+id+`","text":"Mine."}`); !strings.Contains(got, "already claimed by reviewer") {
				t.Errorf("closed by another: %q", got)
			}
			p.as("reviewer")
			out, text = p.call("ack", `{"id":"`+id+`","text":"Ported."}`)
			if out["outcome"] != "completed" || out["to"] != "coder" || text != id+" is completed. coder got your text." {
				t.Errorf("ack = %v, %q", out, text)
			}
			if got := p.waiting("coder"); len(got) != 1 || got[0].Type != dropbox.Result || got[0].ReplyTo != id || string(got[0].Body) != "Ported.\n" || got[0].From != "reviewer" {
				t.Errorf("coder got %+v", got)
			}
			for _, tool := range []string{"claim", "ack"} {
				if got := p.fails(tool, `{"id":"`+id+`"}`); !strings.Contains(got, "is closed: reviewer completed it") {
					t.Errorf("%s of what is closed: %q", tool, got)
				}
			}
			if out, text := p.call("unsubscribe", `{"patterns":["task.*"]}`); len(out["patterns"].([]any)) != 1 || text != "reviewer subscribes to review.>" {
				t.Errorf("unsubscribe = %v, %q", out, text)
			}
			if out, text := p.call("unsubscribe", `{}`); len(out["patterns"].([]any)) != 0 || text != "reviewer subscribes to nothing." {
				t.Errorf("unsubscribe all = %v, %q", out, text)
			}
			if out, text := p.call("topics", `{}`); len(out["open"].([]any)) != 0 || text != "Nobody subscribes to anything.\nNo published work is open." {
				t.Errorf("topics = %v, %q", out, text)
			}
		})
	}
}

// News has no id and cannot be claimed. If the topic has no subscriber, the result says
// so.
func TestPublishedNewsByTools(t *testing.T) {
	p := newProject(t, asAgent("coder"))
	p.daemon = idle()
	if out, _ := p.call("publish", `{"topic":"task.created","text":"x"}`); !strings.Contains(out["note"].(string), "Nobody subscribes to task.created. The work waits") {
		t.Errorf("work for nobody: %v", out)
	}
	if out, _ := p.call("publish", `{"topic":"status.update","text":"x","type":"status"}`); out["id"] != nil || !strings.Contains(out["note"].(string), "so nobody was told") {
		t.Errorf("news for nobody: %v", out)
	}
	p.as("reviewer")
	p.call("subscribe", `{"patterns":["status.>"]}`)
	p.as("coder")
	if out, text := p.call("publish", `{"topic":"status.update","text":"main is green","type":"status"}`); out["id"] != nil || len(out["offered"].([]any)) != 1 || text != "Published on status.update.\nFor: reviewer." {
		t.Errorf("news = %v, %q", out, text)
	}
	got := p.waiting("reviewer")
	if len(got) != 1 || got[0].Type != dropbox.Status || got[0].Offer != "" {
		t.Fatalf("reviewer got %+v", got)
	}
	if text := p.fails("claim", `{"id":"`+got[0].ID+`"}`); !strings.Contains(text, got[0].ID+" was not published") {
		t.Errorf("claim of news: %q", text)
	}
}

func TestWrongArgumentsOfTopics(t *testing.T) {
	p := newProject(t, asAgent("coder"))
	for _, c := range []struct{ tool, arguments, want string }{
		{"publish", `{"text":"x"}`, "publish: the argument topic is missing: words of a-z"},
		{"publish", `{"topic":"task.created"}`, "publish: the argument text is missing"},
		{"publish", `{"topic":"Task.Created","text":"x"}`, `topic "Task.Created": must be words of a-z`},
		{"publish", `{"topic":"task.*","text":"x"}`, `topic "task.*": must be words of a-z`},
		{"publish", `{"topic":"task.created","text":" "}`, "publish: the text is empty"},
		{"publish", `{"topic":"task.created","text":"x","type":"result"}`, `type: "result" is not one of task, question, handoff, status, note`},
		{"publish", `{"topic":"task.created","text":"x","thread":"zzzzzzzzzz"}`, "no such message"},
		{"publish", `{"topic":"task.created","text":"x","attach":["/etc/passwd"]}`, "outside what your tools may read"},
		{"publish", `{"topic":"task.created","text":"x","to":"coder"}`, `there is no argument "to"`},
		{"subscribe", `{}`, "subscribe: the argument patterns is missing: topics such as"},
		{"subscribe", `{"patterns":[]}`, "name at least one pattern"},
		{"subscribe", `{"patterns":"task.*"}`, "patterns: want a list of strings, got text"},
		{"subscribe", `{"patterns":["task."]}`, `pattern "task."`},
		{"subscribe", `{"patterns":[">.task"]}`, `pattern ">.task"`},
		{"unsubscribe", `{"patterns":["Task"]}`, `pattern "Task"`},
		{"topics", `{"all":true}`, `there is no argument "all"; it takes none`},
		{"claim", `{}`, "claim: the argument id is missing: the message of your turn offers no work"},
		{"claim", `{"id":"zzzzzzzzzz"}`, "no such message"},
		{"ack", `{"id":"zzzzzzzzzz","failed":"yes"}`, "failed: want true or false, got text"},
		{"ack", `{"id":"zzzzzzzzzz"}`, "no such message"},
	} {
		if got := p.fails(c.tool, c.arguments); !strings.Contains(got, c.want) {
			t.Errorf("%s %.60s: %q, want %q", c.tool, c.arguments, got, c.want)
		}
	}
	if open, err := topic.Of(p.store).Open(); err != nil || len(open) > 0 {
		t.Errorf("published anyway: %v, %v", open, err)
	}
	mail := p.deliver("coder", &dropbox.Message{From: "lead", Type: dropbox.Task, Body: []byte("x\n")})
	if got := p.fails("claim", `{"id":"`+mail+`"}`); !strings.Contains(got, mail+" was not published on a topic") {
		t.Errorf("claim of mail: %q", got)
	}
}

// The rules apply to these tools as they do to the verbs. A refusal says what the caller
// can do.
func TestTopicsAreHeldToTheRules(t *testing.T) {
	p := newProject(t, asAgent("coder"))
	p.rules = policy.Default()
	p.rules.Access = map[string]policy.Access{"coder": {Publish: []string{"result.*"}, Subscribe: []string{"review.*"}}}
	p.as(dropbox.Lead)
	out, _ := p.call("publish", `{"topic":"task.created","text":"Port it."}`)
	p.as("coder")
	for tool, arguments := range map[string]string{
		"publish":   `{"topic":"task.created","text":"x"}`,
		"subscribe": `{"patterns":["task.*"]}`,
		"claim":     `{"id":"` + out["id"].(string) + `"}`,
		"ack":       `{"id":"` + out["id"].(string) + `"}`,
	} {
		if got := p.fails(tool, arguments); !strings.Contains(got, "refused by a rule: acl: coder may not") || !strings.Contains(got, "to do: ") {
			t.Errorf("%s: %q", tool, got)
		}
	}
	if _, err := topic.Of(p.store).GrantOf(out["id"].(string)); !errors.Is(err, dropbox.ErrNotFound) {
		t.Errorf("it is claimed anyway: %v", err)
	}
	p.call("publish", `{"topic":"result.mine","text":"x","type":"status"}`)
	p.call("subscribe", `{"patterns":["review.*"]}`)
}
