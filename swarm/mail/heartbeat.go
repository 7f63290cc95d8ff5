package mail

import (
	"cmp"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// HeartbeatText is the default body of a heartbeat to an agent.
const HeartbeatText = `Nothing has arrived for you for a while. If you put aside work that you can continue now, continue it.
Otherwise answer with the single word idle, use no tools, and send no message about this.`

// heartbeatKey is the key prefix of heartbeats.
const heartbeatKey = "heartbeat:"

// SendHeartbeat delivers a heartbeat to an agent, as a low-priority task from the daemon.
// A heartbeat needs no answer.
func (s *Service) SendHeartbeat(agent, text string, at time.Time) error {
	_, err := s.Deliver(dropbox.Swarm, agent, &dropbox.Message{
		From: dropbox.Swarm, To: []string{agent}, Type: dropbox.Task, Priority: dropbox.Low, Subject: "heartbeat",
		Key: heartbeatKey + agent + ":" + at.UTC().Format(time.RFC3339Nano), Body: []byte(cmp.Or(strings.TrimSpace(text), HeartbeatText) + "\n"),
	})
	return err
}

// IsHeartbeat reports whether a message claims to be a heartbeat.
func IsHeartbeat(m *dropbox.Message) bool {
	return m.From == dropbox.Swarm && strings.HasPrefix(m.Key, heartbeatKey)
}
