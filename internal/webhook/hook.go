package webhook

import (
	"encoding/base64"
	"errors"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// A Kind is the format in which a webhook posts events.
type Kind string

// The kinds.
const (
	Generic Kind = "generic" // a [Payload] as JSON, signed if there is a secret
	Slack   Kind = "slack"   // a Slack or Mattermost incoming webhook
	Discord Kind = "discord" // a Discord webhook
	Ntfy    Kind = "ntfy"    // an ntfy topic
)

// A Hook is a configured webhook. It is immutable.
type Hook struct {
	Name string
	// URL is the address to which the webhook posts. The URL may itself be a secret, so
	// errors and logs contain only its host.
	URL    string
	Kind   Kind
	Secret string // for Generic, the signing key (see [CheckSecret]); for Ntfy, an access token; otherwise ""
	Events []journal.Word
	// Private allows private, loopback and link-local addresses. Without TLS, the webhook
	// connects only to such addresses or to a proxy.
	Private bool
}

// CheckSecret returns an error if the secret of a generic webhook is invalid. Standard
// Webhooks defines the secret as 24 to 64 bytes in base64, after an optional prefix
// "whsec_".
func CheckSecret(secret string) error {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err == nil && (len(key) < 24 || len(key) > 64) {
		err = errors.New("it does not have 24 to 64 bytes")
	}
	return err
}

// wants reports whether the webhook subscribes to events whose notice has that word, or whose
// kind is that word.
func (h Hook) wants(w journal.Word) bool { return slices.Contains(h.Events, w) }
