package mail

import (
	"errors"
	"slices"
	"sync"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// heldClaims contains the claims that the agent has not settled yet, with the content of
// their files. If another program, such as git clean, deletes the files, they can be
// recreated. It is safe for concurrent use.
type heldClaims struct {
	mu     sync.Mutex
	claims []*dropbox.Claim
}

func (h *heldClaims) keep(claims ...*dropbox.Claim) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range claims {
		h.claims = slices.DeleteFunc(h.claims, func(old *dropbox.Claim) bool { return old.ID == c.ID })
		h.claims = append(h.claims, c)
	}
}

// Restore recreates the files of claimed messages that another program has deleted from
// cur/. It changes nothing if no file is missing.
func (in *Inbox) Restore() error {
	in.held.mu.Lock()
	defer in.held.mu.Unlock()
	var errs []error
	for _, c := range in.held.claims {
		errs = append(errs, in.Box.Restore(c))
	}
	return errors.Join(errs...)
}

// Settled forgets the claims, because all of them have been settled. If their files are
// deleted after that, Restore does not bring them back.
func (in *Inbox) Settled() {
	in.held.mu.Lock()
	defer in.held.mu.Unlock()
	in.held.claims = nil
}
