package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/internal/control"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/internal/view"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
)

// A daemonVoice answers commands from people on IRC on behalf of the daemon.
type daemonVoice struct {
	project *project
	store   *dropbox.Store
}

// voicePatience is the timeout for the daemon's answer to a person on IRC.
const voicePatience = 10 * time.Second

// Status implements [bridge.Swarm].
func (v daemonVoice) Status(ctx context.Context, agent string) (string, error) {
	asked, err := v.status(ctx)
	if err != nil {
		return "", err
	}
	called(asked)
	st := view.StatusOf(asked)
	var b strings.Builder
	now := time.Now()
	if agent == "" {
		b.WriteString(headline(st.Status, now) + "\n")
		for _, n := range st.Needed(view.NeedHalted) {
			b.WriteString(haltedWords(n) + "; unhalt lets them continue\n")
		}
	}
	found := false
	questions := view.OpenQuestions(v.project.home)
	for _, a := range st.Agents {
		if agent == "" || a.Name == agent {
			found = true
			asks := ""
			if q, ok := questions[a.Name]; ok {
				a.Next, asks = "", v.questionLine(q, now)
			} else if q := a.Question; q != nil {
				asks = fmt.Sprintf("; has been asking %s for %s: \"%s\"", calledBy(v.project.file, q.Of), since(q.Since, now), screen.Cut(screen.OneLine(q.Text), 100))
			}
			line, next := agentLine(a, st.Mixed, now)
			b.WriteString(line + asks + next + "\n")
		}
	}
	if !found {
		return "", unknownHere(v.project, agent)
	}
	if agent == "" {
		for _, n := range st.Needs {
			b.WriteString(needLine(n, cmp.Or(st.Lead.Name, "the lead")))
			if n.Kind == view.NeedQuestion {
				b.WriteString(v.leadQuestions())
			}
		}
	}
	return b.String(), nil
}

// needLine returns a line about a need, or "" if an agent's line or the head of the status
// already shows that need. The line suggests no next command, because most of those
// commands are not available on IRC.
func needLine(n view.Need, lead string) string {
	switch n.Kind {
	case view.NeedTrouble:
		return "! " + screen.OneLine(n.Why) + "\n"
	case view.NeedDead:
		return fmt.Sprintf("%s has %s\n", strings.Join(n.Agents, ", "), screen.Count(n.Count, "dead letter"))
	case view.NeedThread:
		return fmt.Sprintf("the conversation %s is halted: %s\n", n.Thread, screen.OneLine(n.Why))
	case view.NeedRefused:
		return screen.Count(n.Count, "message") + " refused today\n"
	case view.NeedQuestion:
		return fmt.Sprintf("%s for %s\n", screen.Count(n.Count, "question"), lead)
	case view.NeedUnread:
		return fmt.Sprintf("%s for %s\n", screen.Count(n.Count, "unread message"), lead)
	}
	return ""
}

func unknownHere(p *project, agent string) error {
	near := dropbox.Nearest(agent, p.file.Names())
	if len(near) > 0 {
		return fmt.Errorf("no agent named %q here; did you mean %s?", agent, near[0])
	}
	return fmt.Errorf("no agent named %q here\nagents: %s", agent, strings.Join(p.file.Names(), ", "))
}

// agentLine describes an agent in a line that is short enough for a phone. The result next
// is the suggested next step, which is printed after the line. If mixed is set, the agents
// use different kinds of clients, and the line names the agent's client.
func agentLine(a swarm.AgentStatus, mixed bool, now time.Time) (line, next string) {
	line = a.Name + " " + string(a.State)
	if a.Since != nil {
		line += " for " + since(*a.Since, now)
	}
	if mixed && a.Client != "" {
		line += " on " + screen.OneLine(a.Client)
	}
	if t := task(a); t != "" {
		line += ": " + t
	}
	if a.Message != nil && a.Why != "" {
		line += "; " + screen.OneLine(a.Why)
	}
	if text := view.ProgressOf(a); text != "" {
		line += "; " + text
	}
	if n := a.Waiting.Total(); n > 0 {
		line += fmt.Sprintf(" (%s waiting)", waitingText(a.Waiting))
	}
	if a.Next != "" && a.State != swarm.Idle {
		next = nextThere(a.Next)
	}
	return line, next
}

// questionLine describes a question that an agent has asked on IRC, with the time since
// it was asked and the command that answers it.
func (v daemonVoice) questionLine(q bridge.OpenQuestion, now time.Time) string {
	what := q.ID
	if found, err := v.store.Find(q.ID); err == nil {
		if m, err := v.store.Load(found); err == nil {
			what = gist(m)
		}
	}
	return fmt.Sprintf("; has been asking for %s in %s: \"%s\"; next: reply %s …", since(q.At, now), q.Channel, what, q.ID)
}

// mostQuestions is how many questions for the lead the status on IRC shows.
const mostQuestions = 3

// leadQuestions returns a line for each of the newest questions that are waiting for the
// lead, with the command that answers it.
func (v daemonVoice) leadQuestions() string {
	box, err := v.store.Mailbox(dropbox.Lead)
	if err != nil {
		return ""
	}
	waiting, err := box.Peek()
	read, err2 := box.Claimed()
	if errors.Join(err, err2) != nil {
		return "" // the number of questions is shown anyway
	}
	var lines []string
	for _, e := range append(read, waiting...) {
		if m, err := box.Read(e); err == nil && m.Type == dropbox.Question && mail.WhyOver(v.project.home, m) == "" {
			lines = append(lines, fmt.Sprintf("%s asks: \"%s\"; next: reply %s …\n", calledBy(v.project.file, m.From), gist(m), m.ID))
		}
	}
	return strings.Join(lines[max(0, len(lines)-mostQuestions):], "")
}

// nextThere returns the next step as a person would type it on IRC.
func nextThere(next string) string {
	return "; next: " + strings.ReplaceAll(screen.OneLine(next), "claude-swarm ", "")
}

// Held implements [bridge.Swarm].
func (v daemonVoice) Held(ctx context.Context, agent string) (string, error) {
	var st swarm.Status
	err := v.ask(ctx, func(ctx context.Context, c *control.Client) (err error) {
		st, err = c.Status(ctx, agent)
		return err
	})
	if errors.Is(err, control.ErrNoDaemon) {
		return "no daemon is running, so your message is waiting", nil
	} else if err != nil {
		return "", err
	}
	for _, a := range st.Agents {
		if a.Name == agent {
			return heldLine(a), nil
		}
	}
	return "", nil
}

// heldLine returns a line that explains why an agent is not working on its mail, or "" if
// nothing is holding the agent up.
func heldLine(a swarm.AgentStatus) string {
	held := view.HoldupOf(a)
	if held == nil {
		return ""
	}
	line := strings.Replace(holdupText(held), held.Agent+": is ", held.Agent+" is ", 1) + "; your message is waiting"
	if held.Next != "" {
		line += nextThere(held.Next)
	}
	return line
}

// status gets the status from the daemon or, if no daemon is running, from the files.
func (v daemonVoice) status(ctx context.Context) (st swarm.Status, err error) {
	err = v.ask(ctx, func(ctx context.Context, c *control.Client) (err error) {
		st, err = view.Ask(ctx, c, nil, func() ([]string, error) { return v.project.file.Names(), nil })
		return err
	})
	if errors.Is(err, control.ErrNoDaemon) {
		return swarm.Offline(v.project.home, v.store, planOf(v.project.file), v.project.dir, time.Now())
	}
	return st, err
}

// ask calls f with a connection to the daemon and a timeout of voicePatience.
func (v daemonVoice) ask(ctx context.Context, f func(context.Context, *control.Client) error) error {
	ctx, cancel := context.WithTimeout(ctx, voicePatience)
	defer cancel()
	client, err := v.project.connect(ctx)
	if err != nil {
		return err
	}
	return errors.Join(f(ctx, client), client.Close())
}

// Steer implements [bridge.Swarm].
func (v daemonVoice) Steer(ctx context.Context, order bridge.Order, object, by string) (string, error) {
	agent := object
	switch order {
	case bridge.Retry:
		return v.retry(object)
	case bridge.Logs:
		return v.logs(agent)
	case bridge.Budget:
		return v.budget(ctx, object, by)
	case bridge.Halt:
		if v.store.Halted() {
			return fmt.Sprintf("everything is already halted, %s; the reason stays the same. next: unhalt", cmp.Or(screen.OneLine(v.store.HaltReason()), "by hand")), nil
		}
		if err := v.store.Halt("by " + by); err != nil {
			return "", err
		}
		return "halted: no new turn begins; running turns continue. next: unhalt", nil
	case bridge.Unhalt:
		if !v.store.Halted() {
			return "was not halted", nil
		}
		if err := v.store.Unhalt(); err != nil {
			return "", err
		}
		return "the agents work again", nil
	}
	said := map[bridge.Order]string{
		bridge.Pause:  agent + " is paused: its running turn continues to its end; mail waits. next: resume " + agent,
		bridge.Resume: agent + " works on its mail again",
		bridge.Start:  agent + " starts again",
		bridge.Clear:  agent + ": the next message begins a fresh session",
	}
	err := v.ask(ctx, func(ctx context.Context, c *control.Client) error {
		switch order {
		case bridge.Pause:
			return c.Pause(ctx, agent, swarm.PauseOrder{By: by})
		case bridge.Resume:
			err := c.Resume(ctx, agent, by)
			said[order] += overtimeText(ctx, c, agent, err)
			return err
		case bridge.Start:
			return c.Start(ctx, agent, by)
		case bridge.Clear:
			return c.Clear(ctx, agent, by)
		case bridge.Abort:
			cut, err := c.Abort(ctx, agent, by, "")
			said[order] = agent + ": " + cutText(cut)
			return err
		}
		return fmt.Errorf("%s is not an order", order)
	})
	switch {
	case errors.Is(err, swarm.ErrNotPaused):
		return err.Error(), nil
	case errors.Is(err, control.ErrNoDaemon):
		return "", fmt.Errorf("%w\non its machine: claude-swarm start", err)
	case err != nil:
		if next := nextStep(err); next != "" {
			return "", fmt.Errorf("%w\n%s", err, next)
		}
		return "", err
	}
	return said[order], nil
}
