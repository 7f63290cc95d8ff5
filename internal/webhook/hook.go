package webhook

import (
	"slices"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// A Kind is the form in which a webhook posts.
type Kind string

// The kinds.
const (
	Generic Kind = "generic" // a [Payload] as JSON, signed where there is a secret
	Slack   Kind = "slack"   // an incoming webhook of Slack, or of Mattermost
	Discord Kind = "discord" // a webhook of Discord
	Ntfy    Kind = "ntfy"    // a topic of ntfy
)

// A Hook is one webhook. It does not change.
type Hook struct {
	Name string
	// URL is the address. It may itself be a secret, so no error and no log contains more of
	// it than its host.
	URL    string
	Kind   Kind
	Secret string // generic: signs, as [standardwebhooks.NewWebhook] reads it; ntfy: an access token; else ""
	Events []journal.Word
	// Private allows addresses in private networks, of this machine and of the link. A URL
	// without TLS is posted only to these.
	Private bool
}

// wants reports whether the webhook wants events with that word.
func (h Hook) wants(w journal.Word) bool { return slices.Contains(h.Events, w) }
