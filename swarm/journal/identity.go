package journal

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// An Identity identifies the user of the command line: the lead or an agent.
type Identity struct {
	Name  string
	Token string
	Turn  string // "" outside a turn

	Attached bool // the agent is a session that a person attached
	home     Home
}

// InTurn reports whether the caller runs in a turn of the daemon.
func (id Identity) InTurn() bool { return id.Turn != "" && !id.Attached }

// WhoAmI determines who is using this process; see [Home.CallerOf]. It sees only what this
// process sees, which is less than the daemon does if the process is in a separate PID
// namespace. A process that runs during several turns of its client, such as a tool server, must
// call WhoAmI for each action.
func WhoAmI(home Home, getenv func(string) string) (Identity, error) {
	c, err := home.CallerOf(os.Getpid(), new(ClaimOf(getenv)))
	if err != nil {
		return Identity{}, err
	}
	return home.IdentityOf(c, getenv)
}

// IdentityOf returns the identity of a caller. Its token comes from the environment if the
// environment belongs to the same agent, because a sandbox may hide the file with the
// tokens.
func (h Home) IdentityOf(c Caller, getenv func(string) string) (Identity, error) {
	id := Identity{Name: cmp.Or(c.Agent, dropbox.Lead), Turn: c.Turn, Attached: c.Attached, home: h}
	if token := getenv(runner.TokenVar); token != "" && c.Agent != "" && getenv(runner.AgentVar) == c.Agent {
		id.Token = token
		return id, nil
	}
	tokens, err := h.Tokens()
	if err != nil {
		return Identity{}, err
	}
	id.Token = tokens[id.Name]
	return id, nil
}

// Sign returns the proof of a message for one recipient, as required by
// [dropbox.Store.Send]. It returns "" if id has no token.
func (id Identity) Sign(m *dropbox.Message, to string) string {
	if id.Token == "" {
		return ""
	}
	return dropbox.Proof(id.Token, m, to)
}

// Envelope sets the fields that a message sent from inside a turn inherits from the
// message that the turn is working on: its trace, its hop count plus one, its path with
// this agent added, and, if m has no thread, its thread. It also sets the sender and the
// turn. Outside a turn, it sets only the sender. The caller must set the type and the
// recipients first, because an answer shortens the path.
func (id Identity) Envelope(m *dropbox.Message) error {
	m.From = id.Name
	if id.Turn == "" {
		return nil
	}
	m.Turn = id.Turn
	rec, err := ReadRecord(id.home, id.Turn)
	if err != nil {
		return fmt.Errorf("turn %s: %w", id.Turn, err)
	}
	if m.Thread == "" {
		m.Thread = rec.Thread
	}
	m.Trace = rec.Trace
	m.Hops = rec.Hops + 1
	m.Path = append(slices.Clone(rec.Path), id.Name)
	if m.Type == dropbox.Result {
		m.Path = AnsweredPath(rec.Path, id.Name, m.To...)
	}
	return nil
}

// Sent records a message that was sent in the running turn, so that the receipt can list
// it and the daemon does not send a second answer. Outside a turn, it does nothing.
func (id Identity) Sent(sent []dropbox.Delivery, m *dropbox.Message) error {
	if id.Turn == "" {
		return nil
	}
	var lines bytes.Buffer
	for _, d := range sent {
		fmt.Fprintf(&lines, "%s %s %s %s\n", d.ID, d.To, m.Type, orDash(m.ReplyTo))
	}
	f, err := os.OpenFile(id.home.TurnFile(id.Turn, ".sent"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("note what was sent: %w", err)
	}
	_, err = f.Write(lines.Bytes())
	return errors.Join(err, f.Sync(), f.Close())
}

// A SentNote is a line of a turn's .sent file.
type SentNote struct {
	ID, To  string
	Type    dropbox.Type
	ReplyTo string
}

// SentIn lists the messages that were sent from inside a turn.
func SentIn(home Home, turn string) ([]SentNote, error) {
	data, err := os.ReadFile(home.TurnFile(turn, ".sent"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var notes []SentNote
	for sc := bufio.NewScanner(bytes.NewReader(data)); sc.Scan(); {
		f := strings.Fields(sc.Text())
		if len(f) != 4 { // a crash truncated the line, but its message is in the mailbox
			continue
		}
		n := SentNote{ID: f[0], To: f[1], Type: dropbox.Type(f[2]), ReplyTo: f[3]}
		if n.ReplyTo == "-" {
			n.ReplyTo = ""
		}
		notes = append(notes, n)
	}
	return notes, nil
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// AnsweredPath returns the path of an answer. A path lists the agents that passed a
// request on and have not yet received an answer. So an answer to one of them shortens
// the path to the part before that agent.
func AnsweredPath(path []string, from string, to ...string) []string {
	if len(to) == 1 {
		for i := len(path) - 1; i >= 0; i-- {
			if path[i] == to[0] {
				return slices.Clone(path[:i])
			}
		}
	}
	return append(slices.Clone(path), from)
}
