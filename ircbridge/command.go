package ircbridge

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// commandPatience is how long the daemon may take for an order.
const commandPatience = 10 * time.Second

// maxInChannel is how many lines are answered in a channel; more go to the person.
const maxInChannel = 3

// command does what a person asked of the bridge, and answers.
func (r *run) command(t irc.Text, who Person, m meaning, agents []string) {
	words := strings.Fields(m.order)
	word, arg := help, ""
	if first := orderWord(m.order); first != "" {
		word = first
	}
	if len(words) > 1 {
		arg = words[1]
	}
	if whom, ok := strings.CutPrefix(m.order, taskWord); ok {
		if whom = strings.TrimSpace(whom); whom == "" {
			r.tell(t, "Whose task is that? Name one of: "+strings.Join(agents, ", "))
		} else {
			r.tell(t, fmt.Sprintf("What is the task? Write it behind the name, as in: TASK: @%s fix the build", whom))
		}
		return
	}
	r.Log.Info("commanded", "word", word, keyNick, t.Nick, "account", who.Account, keyChannel, t.Peer())
	switch Order(word) {
	case Pause, Resume, Abort:
		name, ok := r.agentNamed(t, arg, agents)
		switch {
		case !ok:
		case len(words) > 2: // a time or a second agent would be passed over
			r.tell(t, fmt.Sprintf("%s takes one agent and nothing else. Try: %s: %s %s", word, r.main.nick, word, name))
		default:
			r.steer(t, who, Order(word), name, "")
		}
		return
	case Halt:
		r.steer(t, who, Halt, "", behind(m.order, 1))
		return
	case Unhalt:
		r.steer(t, who, Unhalt, "", "")
		return
	}
	switch word {
	case "status":
		if arg != "" {
			name, ok := r.agentNamed(t, arg, agents)
			if !ok {
				return
			}
			arg = name
		}
		r.ask(t, func(ctx context.Context) (string, error) { return r.Swarm.Status(ctx, arg) })
	case "who":
		if len(agents) == 0 {
			r.tell(t, "There is no agent.")
			return
		}
		r.tell(t, "Agents: "+strings.Join(agents, ", "))
	case "read":
		r.read(t, arg)
	case "more":
		r.goOn(t)
	case "reply":
		if len(words) < 3 {
			r.tell(t, "Say which question, and the answer: reply ID TEXT")
			return
		}
		r.reply(t, arg, behind(m.order, 2))
	case join, part, topic:
		r.orderChannel(t, word, arg, behind(m.order, 2))
	case help:
		r.answerPerson(t, helpOn(strings.ToLower(arg), r.main.nick, agents))
	default:
		r.tell(t, r.noOrder(word, behind(m.order, 1)))
	}
}

// agentNamed finds the agent that a person named; it tells them when there is none.
func (r *run) agentNamed(t irc.Text, name string, agents []string) (string, bool) {
	name = strings.ToLower(strings.Trim(name, "@:,"))
	if slices.Contains(agents, name) {
		return name, true
	}
	hint := "The agents are: " + strings.Join(agents, ", ")
	if near := dropbox.Nearest(name, agents); len(near) > 0 {
		hint = "Did you mean " + strings.Join(near, " or ") + "?"
	}
	if name == "" {
		r.tell(t, "Say which agent. "+hint)
	} else {
		r.tell(t, fmt.Sprintf("There is no agent %q. %s", name, hint))
	}
	return "", false
}

// steer lets the daemon do what a person ordered; why is what they said of it.
func (r *run) steer(t irc.Text, who Person, order Order, agent, why string) {
	by := t.Nick + " on IRC"
	if who.Account != "" {
		by = t.Nick + " (account " + who.Account + ") on IRC"
	}
	if why = strings.Join(strings.Fields(irc.PlainText(why)), " "); why != "" {
		by += ": " + clip(why, 200)
	}
	r.ask(t, func(ctx context.Context) (string, error) { return r.Swarm.Steer(ctx, order, agent, by) })
}

// ask asks the daemon, which may take a while, and tells the answer.
func (r *run) ask(t irc.Text, question func(context.Context) (string, error)) {
	if r.Swarm == nil {
		r.tell(t, "No daemon is here to ask.")
		return
	}
	if r.asking >= 8 {
		r.tell(t, "Too much is being asked at once. Say it again in a while.")
		return
	}
	r.asking++
	r.do(func() func() {
		ctx, cancel := context.WithTimeout(r.ctx, commandPatience)
		defer cancel()
		said, err := question(ctx)
		if err != nil {
			said = err.Error()
		}
		return func() {
			r.asking--
			r.answerPerson(t, strings.Split(r.typed(strings.TrimRight(said, "\n")), "\n"))
		}
	})
}

// reply answers the question with that id, or a part of it.
func (r *run) reply(t irc.Text, id, text string) {
	id = bareID(id)
	meant := r.questionsLike(id)
	if len(meant) == 0 {
		r.tell(t, "No question "+clip(irc.PlainText(id), 20)+" waits for an answer."+idParts)
		return
	}
	if len(meant) > 1 {
		var ids []string
		for _, q := range meant {
			ids = append(ids, q.ID+" of "+q.From)
		}
		r.tell(t, id+" fits several questions. Say one of "+strings.Join(ids, ", "))
		return
	}
	where := "@mention in " + t.Target
	if t.Private {
		where = "private message"
	}
	n := Origin{Channel: t.Peer(), Nick: t.Nick, Account: t.Account, MsgID: t.MsgID}
	r.bring(t, meant[0], n, fmt.Sprintf("[IRC %s] <%s> %s", where, t.Nick, irc.PlainText(text)))
}

// tell tells a person one line, where they spoke.
func (r *run) tell(t irc.Text, line string) { r.answerPerson(t, []string{line}) }

// answerPerson answers a person: in the channel if it is short, else privately. An answer is no
// message of the mailboxes: when the connection ends it is gone, and can be asked again.
func (r *run) answerPerson(t irc.Text, lines []string) {
	r.tellPage(t, r.fitting(t, lines), maxAnswer)
}

// tellLines tells lines that fit.
func (r *run) tellLines(t irc.Text, lines []string) *irc.Delivery {
	target := t.Peer()
	if len(lines) > maxInChannel && !t.Private {
		target = t.Nick
		r.tellOne(t, t.Target, t.Nick+": I answer you privately.")
	} else if !t.Private {
		lines = slices.Clone(lines)
		lines[0] = t.Nick + ": " + lines[0]
	}
	return r.tellOne(t, target, strings.Join(lines, "\n"))
}

// tellOne tells a text in answer to t.
func (r *run) tellOne(t irc.Text, target, text string) *irc.Delivery {
	masked := r.mask.Mask(withoutTabs(text))
	out := irc.Outgoing{Target: target, Text: masked, Priority: irc.Answer}
	if target == t.Peer() {
		out.Tags = threaded(t.MsgID)
	}
	d := r.main.client.Post(out)
	r.do(func() func() {
		<-d.Done() // at the latest when the connection ends
		msgid := ""
		for _, p := range d.Pieces() {
			msgid = p.MsgID
		}
		return func() {
			r.keep(Line{At: time.Now(), Channel: target, Nick: r.main.nick, Text: irc.PlainText(masked), MsgID: msgid, Own: true})
		}
	})
	return d
}
