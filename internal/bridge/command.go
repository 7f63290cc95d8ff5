package bridge

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// orders carries out the orders that people give to the bridge itself.
type orders struct {
	link      Link
	loop      *loop
	rec       *record
	rep       *replies
	mail      *mail
	questions *questions
	swarm     Swarm
	called    func(mailbox string) string
	tags      func() map[string][]string // may be nil
	asking    int                        // orders that the daemon has not answered yet
}

// command carries out an order to the bridge, and answers the person.
func (r *orders) command(t Text, m meaning, agents []string) {
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
			r.rep.tell(t, "Whose task is that? Name one of: "+strings.Join(agents, ", "))
		} else {
			r.rep.tell(t, fmt.Sprintf("What is the task? Write it after the name, as in: TASK: @%s fix the build", whom))
		}
		return
	}
	r.rec.log.Info("commanded", "word", word, keyNick, t.Nick, "account", t.Who.Account, keyChannel, t.Peer())
	switch Order(word) {
	case Pause, Resume, Abort, Start, Clear, Logs:
		name, ok := r.agentNamed(t, arg, agents)
		switch {
		case !ok:
		case len(words) > 2: // otherwise a time or a second agent would be ignored
			r.rep.tell(t, fmt.Sprintf("%s takes one agent and nothing else. Try: %s: %s %s", word, r.link.Self(), word, name))
		default:
			r.steer(t, Order(word), name, "")
		}
		return
	case Halt:
		r.steer(t, Halt, "", behind(m.order, 1))
		return
	case Unhalt:
		r.steer(t, Unhalt, "", "")
		return
	case Retry:
		if arg == "" {
			r.rep.tell(t, "Say which message: retry ID")
			return
		}
		r.steer(t, Retry, bareID(arg), "")
		return
	case Budget:
		r.steer(t, Budget, behind(m.order, 1), "")
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
		r.ask(t, func(ctx context.Context) (string, error) { return r.swarm.Status(ctx, arg) })
	case "who":
		if len(agents) == 0 {
			r.rep.tell(t, "There are no agents.")
			return
		}
		r.rep.tell(t, "Agents: "+strings.Join(withTags(agents, r.tags), ", "))
	case "read":
		r.read(t, arg)
	case "more":
		r.rep.goOn(t)
	case "reply":
		if len(words) < 3 {
			r.rep.tell(t, "Say which question, and the answer: reply ID TEXT")
			return
		}
		r.reply(t, arg, behind(m.order, 2))
	case join, part, topic:
		r.orderChannel(t, word, arg, behind(m.order, 2))
	case help:
		r.rep.answer(t, helpOn(strings.ToLower(arg), r.link.Self(), agents, r.link))
	default:
		r.rep.tell(t, r.noOrder(word, behind(m.order, 1)))
	}
}

// agentNamed finds the agent that a person named. If there is no such agent, it tells the
// person.
func (r *orders) agentNamed(t Text, name string, agents []string) (string, bool) {
	name = strings.ToLower(strings.Trim(name, "@:,"))
	if slices.Contains(agents, name) {
		return name, true
	}
	hint := "The agents are: " + strings.Join(agents, ", ")
	if near := dropbox.Nearest(name, agents); len(near) > 0 {
		hint = "Did you mean " + strings.Join(near, " or ") + "?"
	}
	if name == "" {
		r.rep.tell(t, "Say which agent. "+hint)
	} else {
		r.rep.tell(t, fmt.Sprintf("There is no agent %q. %s", name, hint))
	}
	return "", false
}

// steer passes a person's order about an object to the daemon; why is the reason that the
// person gave.
func (r *orders) steer(t Text, order Order, object, why string) {
	by := t.Nick + " on " + r.mail.title
	if t.Who.Account != "" {
		by = t.Nick + " (account " + t.Who.Account + ") on " + r.mail.title
	}
	if why = strings.Join(strings.Fields(r.link.Plain(why)), " "); why != "" {
		by += ": " + clip(why, 200)
	}
	r.ask(t, func(ctx context.Context) (string, error) { return r.swarm.Steer(ctx, order, object, by) })
}

// ask sends a question to the daemon and passes the answer to the person. The answer may
// take a while.
func (r *orders) ask(t Text, question func(context.Context) (string, error)) {
	if r.swarm == nil {
		r.rep.tell(t, "No daemon is running.")
		return
	}
	if r.asking >= 8 {
		r.rep.tell(t, "Too many requests at once. Try again in a while.")
		return
	}
	r.asking++
	r.loop.do(func() func() {
		ctx, cancel := context.WithTimeout(r.loop.ctx, commandPatience)
		defer cancel()
		said, err := question(ctx)
		if err != nil {
			said = err.Error()
		}
		return func() {
			r.asking--
			r.rep.answer(t, strings.Split(typed(strings.TrimRight(said, "\n"), r.link.Self()), "\n"))
		}
	})
}

// reply answers the question with the given id. Part of the id is enough.
func (r *orders) reply(t Text, id, text string) {
	id = bareID(id)
	meant := r.questions.asked(id)
	if len(meant) == 0 {
		r.rep.tell(t, "No question "+clip(r.link.Plain(id), 20)+" is waiting for an answer."+idParts)
		return
	}
	if len(meant) > 1 {
		var ids []string
		for _, q := range meant {
			ids = append(ids, q.ID+" from "+q.From)
		}
		r.rep.tell(t, id+" matches several questions. Choose one of "+strings.Join(ids, ", "))
		return
	}
	where := "@mention in " + t.Target
	if t.Private {
		where = "private message"
	}
	o := Origin{Channel: t.Peer(), Nick: t.Nick, Account: t.Account, MsgID: t.MsgID}
	r.bring(t, meant[0], o, fmt.Sprintf("[%s %s] <%s> %s", r.mail.title, where, t.Nick, r.link.Plain(text)))
}

// bring delivers the answer to a question.
func (r *orders) bring(t Text, q question, o Origin, body string) {
	switch already, err := r.questions.answer(q, o, body); {
	case err != nil:
		r.rec.trouble("answer was not delivered", err)
		r.rep.tell(t, "That did not reach "+q.From+": "+err.Error())
	case already:
		r.rep.tell(t, "Another person has already answered "+q.ID+".")
	}
}

// noOrder returns an error message for a word that is not an order. The message suggests
// a similar order.
func (r *orders) noOrder(word, rest string) string {
	try := help
	if near := dropbox.Nearest(word, orderWords); len(near) > 0 {
		try = clip(strings.TrimSpace(near[0]+" "+r.link.Plain(rest)), 100)
	}
	return fmt.Sprintf("There is no order %q. Try: %s: %s", clip(r.link.Plain(word), 40), r.link.Self(), try)
}
