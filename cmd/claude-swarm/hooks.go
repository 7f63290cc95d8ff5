package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/internal/client"
	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/policy"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/window"
)

// blockCap is the default number of times in a row that the client allows a Stop hook to
// start another turn. The variable CLAUDE_CODE_STOP_HOOK_BLOCK_CAP overrides this number.
const blockCap = 8

// sessionHooks returns the verbs that the client of an attached session calls.
func sessionHooks() []*cli.Command {
	verb := func(name, usage string, action func(*cli.Context, *mail.Attached, hookCall) error, more ...cli.Flag) *cli.Command {
		return &cli.Command{
			Name: name, Usage: usage,
			Description: "Called by the client of a session that was attached with claude-swarm attach.",
			Flags:       append([]cli.Flag{asFlag()}, more...),
			Action: func(c *cli.Context) error {
				if os.Getenv(runner.MarkVar) != "" {
					return nil // the daemon started this turn and handles the mail itself
				}
				return serveSession(c, action)
			},
		}
	}
	return []*cli.Command{
		verb("start", "a session begins", func(c *cli.Context, s *mail.Attached, h hookCall) error {
			reply, err := s.Begin(os.Getpid(), h.Session)
			out := hookOutput{Notice: reply.Notice}
			out.addContext(sessionStarted, reply.Duty)
			return out.print(c, err)
		}),
		verb("stop", "a turn of a session has ended", func(c *cli.Context, s *mail.Attached, h hookCall) error {
			most := blockCap
			if n, err := strconv.Atoi(os.Getenv("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP")); err == nil && n > 0 {
				most = n
			}
			reply, err := s.Stop(mail.StopEvent{
				PID: os.Getpid(), Session: h.Session, Prompt: h.Prompt, Active: h.Active, Last: h.Last, Tasks: h.subAgents(),
				Continue: h.agent.AttachedMail != "notify", Cap: most,
			})
			if reply.Prompt != "" { // a whisper alone does not start a turn
				reply.Prompt = h.withWhispers(reply.Prompt)
			}
			out := hookOutput{Notice: reply.Notice}
			if reply.Prompt != "" {
				out.Decision, out.Reason = "block", quoted(reply.Prompt)
			}
			return out.print(c, err)
		}),
		verb("prompt", "a session was given a prompt", func(c *cli.Context, s *mail.Attached, h hookCall) error {
			err := s.Prompted(os.Getpid(), h.Session, h.Prompt, h.Text)
			if err != nil || h.Event != promptSubmitted { // for a slash command, the client calls this hook for two events
				return err
			}
			var out hookOutput
			out.addContext(promptSubmitted, h.withWhispers(""))
			return out.print(c, nil)
		}),
		verb("task", "a task was put on the client's task list, or is completed", func(_ *cli.Context, s *mail.Attached, h hookCall) error {
			return s.Listed(mail.ListEvent{
				PID: os.Getpid(), Session: h.Session, Task: h.Task, Subject: h.Subject, Description: h.Description, By: cmp.Or(h.Teammate, h.SubAgent),
				Done: h.Event == taskCompleted,
			})
		}),
		verb("end", "a session has ended", func(_ *cli.Context, s *mail.Attached, _ hookCall) error { return s.End(os.Getpid()) }),
		verb("inbox", "fetch the next message of a session", func(c *cli.Context, s *mail.Attached, h hookCall) error {
			text, err := s.Fetch(os.Getpid(), os.Getenv("CLAUDE_CODE_SESSION_ID"), c.Bool("file-last"))
			if err == nil {
				// Without the backslash, an @file in the command's output would make the
				// client read that file.
				text = strings.ReplaceAll(h.withWhispers(cmp.Or(text, "There is no message.")), "@", `\@`)
				_, err = fmt.Fprintln(c.App.Writer, text)
			}
			return err
		}, &cli.BoolFlag{Name: "file-last", Usage: "file the previously fetched messages as done"}),
	}
}

// A hookCall contains the fields that hooks use from the client's input.
type hookCall struct {
	Event   string `json:"hook_event_name"`
	Session string `json:"session_id"`
	Prompt  string `json:"prompt_id"`
	Active  bool   `json:"stop_hook_active"`
	Last    string `json:"last_assistant_message"`
	Text    string `json:"prompt"` // in UserPromptSubmit
	Tasks   []struct {
		ID     string `json:"id"`
		Type   string `json:"type"`   // subagent, shell …
		Status string `json:"status"` // running …
	} `json:"background_tasks"` // in Stop, since version 2.1.330

	// In TaskCreated and TaskCompleted.
	Task        string `json:"task_id"`
	Subject     string `json:"task_subject"`
	Description string `json:"task_description"`
	Teammate    string `json:"teammate_name"`
	SubAgent    string `json:"agent_type"` // the kind of sub-agent that called the hook

	agent config.Agent
	dir   string // the project's folder
}

// The events for which a hook gives text to the model.
const (
	promptSubmitted = "UserPromptSubmit" // a prompt is sent to the model
	sessionStarted  = "SessionStart"     // a session starts, is resumed, cleared or compacted
	taskCompleted   = "TaskCompleted"    // a task on the client's list is completed; otherwise it was created
)

// withWhispers fetches the pending whispers for the session's agent and puts them before a
// prompt for the session. The prompt can be "".
func (h hookCall) withWhispers(prompt string) string {
	var lines []string
	takeWhispers(h.dir, h.agent.Name, func(line string) { lines = append(lines, line) })
	switch {
	case lines == nil:
		return prompt
	case prompt == "":
		return mail.WhispersText(lines)
	}
	return mail.WhispersText(lines) + "\n\n" + prompt
}

// subAgents returns the ids of the sub-agents that are still running in the background.
func (h hookCall) subAgents() []string {
	var ids []string
	for _, t := range h.Tasks {
		if t.Type == "subagent" && t.Status == "running" {
			ids = append(ids, t.ID)
		}
	}
	return ids
}

// serveSession opens the mailbox of the session's agent and calls action.
func serveSession(c *cli.Context, action func(*cli.Context, *mail.Attached, hookCall) error) error {
	var h hookCall
	if c.Command.Name != "inbox" {
		data, err := io.ReadAll(io.LimitReader(c.App.Reader, 10<<20))
		if err == nil && len(data) > 0 {
			err = json.Unmarshal(data, &h)
		}
		if err != nil {
			return hint(fmt.Errorf("read the hook's input: %w", err), `echo {} | claude-swarm hook %s, to try it by hand`, c.Command.Name)
		}
	}
	p, err := loadProject(c)
	if err != nil {
		return err
	}
	name, err := p.sessionAgent(c.String("as"))
	if err != nil {
		return err
	}
	me, err := p.whoAmI(c.Context)
	if err != nil {
		return err
	}
	if err := mayActFor(me, name, "handle the mail of another agent"); err != nil {
		return err
	}
	h.dir = p.dir
	if h.agent, err = p.agent(name, "claude-swarm attach %s"); err != nil {
		return err
	}
	if !h.agent.Attached {
		return fail(exitFailed, "claude-swarm attach "+name, "%s is not attached: the daemon handles its mail", name)
	}
	store, err := p.openStore()
	if err != nil {
		return err
	}
	defer store.Close()
	announcer := newIRCAnnouncer(p.file.IRC)
	advice := announcer.advice(p.home, slog.New(slog.DiscardHandler))
	session := swarm.Spec{Name: name}
	session.Tools, session.Attached = true, true
	s, err := mail.OpenAttached(p.home, store, name, mail.AttachedOptions{
		Backend: h.agent.Backend, Logs: p.file.Log,

		Gate:      &sessionGate{policy: client.PolicyOf(p.file), file: p.home.SessionGateFile(name)},
		Announcer: announcer,

		Names:  mail.Names{LeadName: p.file.LeadName, CCLead: p.file.CCLead()},
		Advise: func() string { return advice(session) },
	})
	if err != nil {
		return err
	}
	defer s.Close()
	return action(c, s, h)
}

// A sessionGate is the gate for the hooks of one session. Each hook is a separate process, so
// the gate reads the recent decisions from a file before it makes a decision, and writes them
// back afterwards. Because of the session's lock, only one hook at a time does this. The file
// contains only the decisions for this mailbox, because the daemon counts the messages to
// other mailboxes.
type sessionGate struct {
	policy policy.Policy
	file   string
}

func (g *sessionGate) Ask(q policy.Question) policy.Verdict {
	asked := policy.NewGate(g.policy, nil)
	// If the file cannot be read, the rates start from 0, and all other rules still
	// apply.
	_ = asked.Load(g.file)
	v := asked.Ask(q)
	_ = asked.Save(g.file)
	return v
}

// A hookOutput is a hook's answer to the client. The client ignores an empty one.
type hookOutput struct {
	Decision string       `json:"decision,omitempty"` // "block" makes the session continue
	Reason   string       `json:"reason,omitempty"`   // the prompt with which it continues
	Notice   string       `json:"systemMessage,omitempty"`
	Context  *hookContext `json:"hookSpecificOutput,omitempty"`
}

// A hookContext is text that a hook gives to the model.
type hookContext struct {
	Event string `json:"hookEventName"`
	Text  string `json:"additionalContext"`
}

// addContext adds text for the model. event is the event that the hook was called for. If
// text is "", it adds nothing.
func (o *hookOutput) addContext(event, text string) {
	if text != "" {
		o.Context = &hookContext{event, quoted(text)}
	}
}

// print prints the output as JSON, unless it is empty or err is not nil.
func (o hookOutput) print(c *cli.Context, err error) error {
	if err != nil || o == (hookOutput{}) {
		return err
	}
	return json.NewEncoder(c.App.Writer).Encode(o)
}

// quoted returns text in which no message body can close a tag. The client puts a hook's
// text between tags.
func quoted(text string) string { return string(window.AppendQuoted(nil, []byte(text))) }
