package turn

import (
	"slices"
	"sync/atomic"

	"github.com/claude-swarm/claude-swarm/internal/tokens"
	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// Secrets removes two kinds of secrets from a client's text: the project's tokens, and the
// secrets that other clients of the same kind need to reach this client. The daemon removes
// them before it writes the text to the log, a receipt, an answer, the ledger, the window,
// the status or IRC. The stream that the client itself writes is not changed. A Secrets
// belongs to the goroutine that runs the turn, but any goroutine may call Text, as the
// supervisor does.
type Secrets struct {
	tokens *tokens.Source // the project's tokens
	// clients maps each secret that other clients need to reach the client to the text
	// that replaces the secret. The secrets are found in the client's output.
	clients map[string]string
	own     atomic.Pointer[tokens.Redactor] // removes the secrets in clients
}

// maxClientSecrets limits how many client secrets are remembered. When the limit is
// reached, all of them are forgotten, because most of these clients have ended by then.
const maxClientSecrets = 64

// NewSecrets returns a Secrets that removes the tokens from source, and the secrets that
// it finds in the client's output.
func NewSecrets(source *tokens.Source) *Secrets { return &Secrets{tokens: source} }

// Text returns t without secrets.
func (s *Secrets) Text(t string) string { return s.own.Load().Text(s.tokens.Redactor().Text(t)) }

// learn looks for the client's secrets in its output.
func (s *Secrets) learn(kind *runner.Kind, ev *streamjson.Event) {
	if kind.Secrets != nil {
		kind.Secrets(ev, s.keep)
	}
}

// event returns ev without secrets. The result is ev itself if it contains no secrets,
// otherwise a copy. The parameter kind is the kind of the client that printed ev.
func (s *Secrets) event(kind *runner.Kind, ev *streamjson.Event) *streamjson.Event {
	s.learn(kind, ev)
	r := s.tokens.Redactor() // once for each event, because Redactor checks the tokens file
	own := s.own.Load()
	has := func(b []byte) bool { return r.In(b) || own.In(b) }
	text := func(t string) string { return own.Text(r.Text(t)) }
	if !has(ev.Raw) && !slices.ContainsFunc(ev.Blocks, func(b streamjson.Block) bool { return text(b.Text) != b.Text || has(b.Input) }) {
		return ev
	}
	clean := *ev
	clean.Raw = own.Bytes(r.Bytes(ev.Raw))
	clean.Blocks = slices.Clone(ev.Blocks)
	for i := range clean.Blocks {
		b := &clean.Blocks[i]
		b.Text, b.Input = text(b.Text), own.Bytes(r.Bytes(b.Input))
	}
	return &clean
}

// outcome removes the secrets from the outcome of a turn.
func (s *Secrets) outcome(out *runner.Outcome) {
	out.Reason, out.Hint, out.Text = s.Text(out.Reason), s.Text(out.Hint), s.Text(out.Text)
	r, own := s.tokens.Redactor(), s.own.Load()
	for i := range out.Denied {
		d := &out.Denied[i]
		d.Input, d.Allow = own.Bytes(r.Bytes(d.Input)), s.Text(d.Allow)
	}
	for i := range out.Decisions {
		asked := &out.Decisions[i].Request
		asked.Command, asked.Title, asked.Input = s.Text(asked.Command), s.Text(asked.Title), own.Bytes(r.Bytes(asked.Input))
		for n := range asked.Paths {
			asked.Paths[n] = s.Text(asked.Paths[n])
		}
	}
	for i := range out.Files {
		out.Files[i] = s.Text(out.Files[i])
	}
}

func (s *Secrets) keep(value, mark string) {
	if value == "" || s.clients[value] != "" {
		return
	}
	if s.clients == nil || len(s.clients) >= maxClientSecrets {
		s.clients = map[string]string{}
	}
	s.clients[value] = mark
	s.own.Store(tokens.NewMarks(s.clients))
}
