package ircbridge

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// taskWord begins a line that is a task.
const taskWord = "TASK:"

// staleAfter is how old a line may be by the server's clock, at its coming, to be taken
// for news: a bouncer plays back old lines as if they were new.
const staleAfter = 2 * time.Minute

// A meaning is what a line asks for, whoever said it.
type meaning struct {
	need   Right
	agents []string // whom it is for; none is the bridge itself
	order  string   // for the bridge: the words behind its name
}

// A name is what an agent is called on IRC: its own name, or its nick there.
type name struct{ called, agent string }

// names are what the agents are called now.
func (r *run) names(agents []string) []name {
	var all []name
	for _, agent := range agents {
		all = append(all, name{agent, agent})
		l := r.others[agent]
		if r.Style != StyleNicks || l == nil {
			continue
		}
		for _, nick := range []string{r.Nick(agent), l.nick} {
			if nick != agent && nick != "" {
				all = append(all, name{nick, agent})
			}
		}
	}
	return all
}

// meant reads what a line asks for; ok is false when it speaks to nobody here. agent is
// whose connection heard it, "" for the bridge's own; nicks are the bridge's.
func meant(text string, private bool, agent string, names []name, nicks []string, c irc.CaseMapping) (m meaning, ok bool) {
	line := strings.TrimSpace(text)
	for _, nick := range nicks {
		if start, end := irc.FindMention(line, nick, c); start == 0 {
			order := orderOf(line[end:])
			if _, isTask := cutTask(order); !isOrder(order) && (isTask || len(headed(order, names, c)) > 0) {
				line = order // "swarm: coder: go on" is for coder
				break
			}
			return meaning{need: rightOf(order), order: order}, true
		}
	}
	m.need = Talk
	if order := steered(line, names, c); order != "" {
		return meaning{need: rightOf(order), order: order}, true
	}
	if body, isTask := cutTask(line); isTask {
		m.need, line = Tasks, body
		m.agents = headed(line, names, c)
	}
	switch {
	case len(m.agents) > 0: // a task is for those at its head alone
	case agent != "" && private:
		m.agents = []string{agent}
	case private && m.need == Talk:
		// To the bridge itself: a word for an agent begins with its name.
		order := orderOf(line)
		if m.agents = headed(line, names, c); len(m.agents) == 0 || isOrder(order) {
			return meaning{need: rightOf(order), order: order}, true
		}
	default:
		for _, n := range names {
			if !slices.Contains(m.agents, n.agent) && irc.Mentions(line, n.called, c) {
				m.agents = append(m.agents, n.agent)
			}
		}
	}
	if m.need != Tasks {
		return m, len(m.agents) > 0
	}
	if len(m.agents) == 0 {
		m.order = taskWord // for nobody that we know
	} else if _, what := cutHead(line, names, c); strings.Trim(what, " :,;.!?-@") == "" {
		m.agents, m.order = nil, taskWord+" "+m.agents[0] // a task without words
	}
	if m.order != "" {
		return m, true
	}
	return m, len(m.agents) > 0
}

func cutTask(line string) (rest string, ok bool) {
	if len(line) < len(taskWord) || !strings.EqualFold(line[:len(taskWord)], taskWord) {
		return line, false
	}
	return strings.TrimSpace(line[len(taskWord):]), true
}

// namesOf are agents that are called by their own names alone.
func namesOf(agents []string) (names []name) {
	for _, agent := range agents {
		names = append(names, name{agent, agent})
	}
	return names
}

// TaskFor reads words that give a task, as in "TASK: @coder fix the build": to whom of the
// agents, and what. ok is false for other words.
func TaskFor(text string, agents []string) (to []string, what string, ok bool) {
	names := namesOf(agents)
	m, _ := meant(text, false, "", names, nil, irc.RFC1459)
	if m.need != Tasks {
		return nil, "", false
	}
	what, _ = cutTask(strings.TrimSpace(text))
	_, what = cutHead(what, names, irc.RFC1459)
	return m.agents, what, true
}

// WithoutHead is what a line asks for: without TASK: and the agents, or nicks with @, at
// its head. Other lines stay as they are.
func WithoutHead(line string, agents []string) string {
	what, ok := cutTask(strings.TrimSpace(line))
	if !ok {
		return line
	}
	names := namesOf(agents)
	for {
		_, rest := cutHead(what, names, irc.RFC1459)
		if strings.HasPrefix(rest, "@") {
			rest = behind(rest, 1)
		}
		if rest == what {
			return what
		}
		what = rest
	}
}

// headed are the agents that stand at the head of a line, before anything else.
func headed(line string, names []name, c irc.CaseMapping) []string {
	at, _ := cutHead(line, names, c)
	return at
}

// cutHead takes the agents off that stand at the head of a line.
func cutHead(line string, names []name, c irc.CaseMapping) (at []string, rest string) {
	for {
		line = strings.TrimLeft(line, " ,&+")
		found := ""
		for _, n := range names {
			if start, end := irc.FindMention(line, n.called, c); start == 0 && !slices.Contains(at, n.agent) {
				found, line = n.agent, line[end:]
				break
			}
		}
		if found == "" {
			return at, line
		}
		at = append(at, found)
	}
}

// hear deals with a line: it does what the line asks for, if that is allowed, and then
// keeps it.
func (r *run) hear(l *link, t irc.Text) {
	now := time.Now()
	if l != r.main && (!t.Private || r.ours(t.Nick)) {
		return // the bridge's own connection hears it, too
	}
	own := t.Own || r.ours(t.Nick)
	if own && t.History && t.MsgID == "" {
		return // a bouncer plays back what we said: it is kept as it was said
	}
	r.state.Received++
	a := arrival{line: lineOf(t)}
	if !own {
		r.obey(l, t, now, &a)
	}
	r.finish(a)
}

// lineOf is a text as the buffer keeps it.
func lineOf(t irc.Text) Line {
	text := irc.PlainText(t.Body)
	if t.Emote {
		text = "* " + t.Nick + " " + text
	}
	return Line{At: t.Time, Channel: t.Peer(), Nick: t.Nick, Account: t.Account, Text: text, MsgID: t.MsgID, Replay: t.History, Notice: t.Notice}
}

// obey does what a line asks for, if whoever said it may, but for the messages that
// come of it.
func (r *run) obey(l *link, t irc.Text, now time.Time, a *arrival) {
	agents := r.agents()
	var nicks []string
	if l == r.main {
		nicks = []string{r.main.nick, r.Server.Nick}
	}
	who := person(t)
	if l.state.Cap("account-tag") {
		who.Account = t.Account
	}
	m, ok := r.answersLead(l, t)
	if !ok {
		m, ok = meant(t.Body, t.Private, l.agent, r.names(agents), nicks, r.fold())
	}
	if !ok {
		m, ok = r.hinted(t, who)
	}
	if !ok {
		r.tellTorn(t, now)
		return
	}
	if t.Notice && who.Host == "" {
		return // the server speaks, such as of its TLS: nobody asks for anything
	}
	if why := r.notListened(t, who, m.need, now); why != "" {
		if news := t; t.History {
			news.History, news.Time = false, now
			if r.notListened(news, who, m.need, now) == "" {
				if !r.mailed(t, m.agents) {
					r.missed(t)
				}
				return
			}
		}
		r.state.Denied++
		r.Log.Warn("denied", keyWhy, why, "right", string(m.need), keyNick, t.Nick, "source", t.Source, "account", t.Account,
			keyChannel, t.Peer(), "text", clip(r.mask.Mask(irc.PlainText(t.Body)), 200))
		if has := rightsOf(r.Allow, who, r.fold(), r.where()); why == notPermitted && len(has) > 0 {
			r.lacks(t, m.need, has, now)
		}
		return
	}
	switch {
	case len(m.agents) == 0:
		r.command(t, who, m, agents)
	default:
		for _, agent := range m.agents {
			r.pass(t, agent, m.need, now, a)
		}
		r.noteSpoken(t, m.agents, now)
	}
}

// notPermitted is why nobody obeys a line that could be an order.
const notPermitted = "nothing permits it"

// notListened says why nobody obeys a line; "" when it is obeyed.
func (r *run) notListened(t irc.Text, who Person, need Right, now time.Time) string {
	switch {
	case t.History:
		return "it comes from the history"
	case now.Sub(t.Time) > staleAfter:
		return "it is old"
	case t.Notice:
		return "it is a notice"
	case t.Relayed:
		return "it was relayed"
	case t.Bot:
		return "a bot said it"
	case t.Emote:
		return "it is not speech"
	case t.Target == "" || t.Private && !r.ours(t.Target):
		return "it was not said to us"
	case !slices.Contains(rightsOf(r.Allow, who, r.fold(), r.where()), need):
		return notPermitted
	}
	return ""
}

// where is the address of the server for permits: "" behind a bouncer, whose own address
// says nothing of who can reach the server.
func (r *run) where() string {
	if r.main.state.Bouncer {
		return ""
	}
	return r.Server.Addr
}

// mailed says whether a line out of the history has come to the agents that it is for: an
// earlier bridge was killed before it kept the line.
func (r *run) mailed(t irc.Text, agents []string) bool {
	if t.MsgID == "" || len(agents) == 0 {
		return false
	}
	key := r.keyOf(t)
	for _, agent := range agents {
		switch _, ok, err := r.Store.Delivered(agent, key); {
		case err != nil:
			r.trouble("it is not known whether a line was delivered", err)
			return false
		case !ok:
			return false
		}
	}
	return true
}

func person(t irc.Text) Person {
	p := Person{Nick: t.Nick}
	if _, userhost, ok := strings.Cut(t.Source, "!"); ok {
		p.User, p.Host, _ = strings.Cut(userhost, "@")
	}
	return p
}

// pass brings a line to an agent: as the answer to its question, or as a new message.
func (r *run) pass(t irc.Text, agent string, need Right, now time.Time, a *arrival) {
	where := "@mention in " + t.Target
	if t.Private {
		where = "private message"
	}
	body := fmt.Sprintf("[IRC %s] <%s> %s", where, t.Nick, irc.PlainText(t.Body))
	n := Origin{Channel: t.Peer(), Nick: t.Nick, Account: t.Account, MsgID: t.MsgID}
	if need == Talk {
		channel := t.Target
		if t.Private {
			channel = ""
		}
		if q, ok := r.questionOf(agent, channel); ok {
			r.bring(t, q, n, body)
			return
		}
	}
	if !t.Private && !r.hears(agent, t.Target) {
		r.unheard(t, agent, now)
		return
	}
	at := t.Peer()
	if r.WakesPerMinute > 0 && r.awake(at, now) >= r.WakesPerMinute {
		r.tooMany(t, agent, now)
		return
	}
	r.wakes[at] = append(r.wakes[at], now)
	m := &dropbox.Message{From: dropbox.IRC, To: []string{agent}, Type: dropbox.Question, Key: r.keyOf(t), Extra: n.Extra(), Body: []byte(body)}
	if need == Tasks {
		m.Type = dropbox.Task
	}
	a.add(r.draft(agent, m), func(o dropbox.Outcome) {
		switch {
		case o.Err != nil:
			r.undelivered(t, agent, o.Err)
		case need == Tasks && !o.Duplicate:
			r.tellTaken(t, agent, o.ID)
		}
	})
	r.tellHeld(t, agent)
}

// bring brings the answer to a question.
func (r *run) bring(t irc.Text, q question, n Origin, body string) {
	switch already, err := r.answer(q, n, body); {
	case err != nil:
		r.trouble("answer was not delivered", err)
		r.tell(t, "That did not reach "+q.From+": "+err.Error())
	case already:
		r.tell(t, "Somebody has answered "+q.ID+" already.")
	}
}

// awake counts how many messages to agents came of a channel in the last minute.
func (r *run) awake(channel string, now time.Time) int {
	r.wakes[channel] = slices.DeleteFunc(r.wakes[channel], func(at time.Time) bool { return now.Sub(at) >= time.Minute })
	return len(r.wakes[channel])
}

// keyOf names a line, so that it is delivered once however often it comes.
func (r *run) keyOf(t irc.Text) string {
	if t.MsgID != "" && len(t.MsgID) <= 200 && irc.PlainText(t.MsgID) == t.MsgID {
		return "irc-" + r.network() + "-" + t.MsgID
	}
	r.lineCount++
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%d\x00%s\x00%d", t.Target, t.Source, t.Time.UnixNano(), t.Body, r.lineCount))
	return "irc-" + r.network() + "-" + hex.EncodeToString(sum[:16])
}

// network names the network in keys.
func (r *run) network() string {
	if name := r.main.state.ISupport["NETWORK"]; name != "" && len(name) < 64 && irc.PlainText(name) == name {
		return name
	}
	return r.Server.HostPort()
}

// clip is the beginning of a text, at most so many bytes.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + " …"
}
