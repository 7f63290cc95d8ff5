package view

import (
	"fmt"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/webhook"
)

// A Webhook is a webhook in the configuration, with its state.
type Webhook struct {
	Name    string   `json:"name"`
	Kind    string   `json:"kind"`
	Host    string   `json:"host"` // host of the address; "" if the address is in an environment variable
	Private bool     `json:"private"`
	Events  []string `json:"events"`

	Last         *WebhookTry `json:"last"`          // null before the first attempt
	Taken        *time.Time  `json:"taken"`         // when the receiver last accepted an event; null if it never has
	FailingSince *time.Time  `json:"failing_since"` // null while the webhook is working
	NextTry      *time.Time  `json:"next_try"`      // when failed events will be retried; null if no failed event is waiting
	Waiting      int         `json:"waiting"`       // number of events waiting to be posted
	Dead         int         `json:"dead"`          // number of events that were given up on
	Next         string      `json:"next"`          // the command to type; "" if no action is needed
}

// A WebhookTry is one attempt to post an event.
type WebhookTry struct {
	At     time.Time `json:"at"`
	Event  string    `json:"event"`
	Status int       `json:"status"` // HTTP status; 0 means that there was no answer
	Why    string    `json:"why"`    // why the receiver did not accept the event; "" if it did
}

// Webhooks returns a project's webhooks, in the order of the configuration. home is the
// daemon's folder; the daemon need not be running.
func Webhooks(f *config.File, home string, store *dropbox.Store) ([]Webhook, error) {
	state, err := webhook.ReadState(home)
	if err != nil {
		return nil, err
	}
	counts, err := webhook.CountsOf(store)
	if err != nil {
		return nil, err
	}
	list := []Webhook{}
	for _, c := range f.Webhooks {
		w := Webhook{
			Name: c.Name, Kind: c.Kind, Private: c.Private, Events: c.Events, Waiting: counts[c.Name].Waiting, Dead: counts[c.Name].Dead,
			Host: webhook.Hook{URL: c.URL}.Host(),
		}
		if st, ok := state.Hooks[c.Name]; ok {
			w.Last = &WebhookTry{st.At, st.Event, st.Status, st.Why}
			if !st.Taken.IsZero() {
				w.Taken = &st.Taken
			}
			if st.Failed > 0 {
				w.FailingSince = &st.Since
			}
		}
		if at := state.NextTry(c.Name); !at.IsZero() && w.Waiting > 0 {
			w.NextTry = &at
		}
		switch {
		case w.FailingSince != nil:
			w.Next = fmt.Sprintf("claude-swarm webhooks test %s", w.Name)
		case w.Dead > 0:
			w.Next = listDead(dropbox.Hooks)
		}
		list = append(list, w)
	}
	return list, nil
}
