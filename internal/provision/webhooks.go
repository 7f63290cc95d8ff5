package provision

import (
	"context"
	"errors"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/webhook"
)

// addressTime is the time within which the address of a webhook must be found.
const addressTime = 10 * time.Second

// webhooks checks the secrets, addresses and state of the webhooks. It does not post
// anything; `claude-swarm webhooks test` does that.
func (e *checkup) webhooks(ctx context.Context) {
	const name = "webhooks"
	if len(e.file.Webhooks) == 0 {
		return
	}
	hooks, err := e.file.Hooks(e.Getenv)
	errs, _ := errors.AsType[config.Errors](err)
	for _, one := range errs {
		e.wrong(name, one.Try, "%v", one)
	}
	state, err := webhook.ReadState(e.home.Dir())
	if err != nil {
		e.wrong(name, "", "%v", err)
	}
	for _, h := range hooks {
		stand, tried := state.Hooks[h.Name]
		test := "claude-swarm webhooks test " + h.Name
		short, cancel := context.WithTimeout(ctx, addressTime)
		err := webhook.NewPoster(h, webhook.PosterOptions{}).CheckAddress(short)
		cancel()
		switch {
		case err != nil:
			e.wrong(name, "change its url in claude-swarm.yaml, then "+test, "%s: %v", h.Name, err)
		case stand.Failed > 0:
			e.warn(name, test, "%s has been failing since %s: %s", h.Name, stand.Since.Local().Format(time.DateTime), firstLine(stand.Why))
		case tried:
			e.good(name, "%s posts to %s; its receiver accepted an event at %s", h.Name, h.Host(), stand.Taken.Local().Format(time.DateTime))
		default:
			e.good(name, "%s posts to %s (%s tries it)", h.Name, h.Host(), test)
		}
	}
}
