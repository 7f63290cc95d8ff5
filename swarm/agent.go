package swarm

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
)

// An agent owns one mailbox and one session. Its goroutine runs the run method.
type agent struct {
	name    string
	inbox   *mail.Inbox
	wakeup  wakeup
	view    view
	turns   *turn.Turns
	control control
	permits permitter
	log     *slog.Logger

	files   projectFiles
	holds   *journal.Holds
	ledger  *journal.Ledger
	notices *notice.Teller
	strays  *strayFiles
	feed    *feed

	// Whether a turn may begin, and how it runs.
	admission *admission
	limits    *usageLimits
	slots     *slots
	tasks     *tasks
	starts    *starts
	client    clientSettings
	tree      agentTree
	verifiers agentVerifiers
	breaker   *breaker
	restart   RestartPolicy

	// Only the agent's goroutine may use the fields below, except for told of supervision.

	// unsettled reports whether cur/ may contain unfinished messages. This is the case at
	// startup, while a claimed message is not settled, and after an attached session.
	unsettled   bool
	unfiled     *ending // of a turn that could not be settled yet; nil if there is none
	beats       beats
	hidden      *turn.Secrets
	settler     settler
	supervision supervision
	drift       treeDrift
	budget      agentBudget
	waits       waits
}

// The context of a turn is cancelled with one of these causes to end the turn early.
var (
	errAborted     = errors.New("aborted")
	errInterrupted = errors.New("interrupted")
	errStuck       = errors.New("stuck")
	errStopping    = errors.New("the daemon is stopping")
)

func (a *agent) spec() Spec { return a.control.settings() }

// stopped reports whether the agent is stopped.
func (a *agent) stopped() bool { return a.holds.Of(a.name).Stopped != nil }

// show publishes a change of state.
func (a *agent) show(s State, why, next string) { a.showSince(s, time.Now(), why, next) }

func (a *agent) showSince(s State, since time.Time, why, next string) {
	a.view.waiting(a.inbox.Queue.Waiting())
	if !a.view.set(s, since, why, next) {
		return
	}
	a.log.Info("agent state changed", keyState, string(s), keyWhy, why)
	a.feed.publish(FeedEvent{Kind: FeedState, At: time.Now().UTC(), Agent: a.name, State: s, Text: why})
}

// diskTrouble shows that the agent cannot use its files, and waits before the next
// attempt. The agent claims nothing in the meantime. The result is always 0, which makes
// the caller try again immediately.
func (a *agent) diskTrouble(ctx context.Context, doing string, err error) time.Duration {
	a.log.Error("mailbox could not be used", "doing", doing, keyErr, err)
	a.show(Backoff, "cannot "+doing+": "+err.Error(), "tries again every "+a.restart.Disk.String()+"; see claude-swarm doctor")
	a.inbox.Queue.Changed("")
	if dropbox.IsDeleted(err) {
		a.files.lost.wake() // the sweep recreates deleted folders
	}
	t := time.NewTimer(a.restart.Disk)
	defer t.Stop()
	select { // the wakeup is ignored, because an error that causes wakeups would cause a busy loop
	case <-t.C:
	case <-ctx.Done():
	}
	return 0
}

// jitter lengthens a wait by a random fraction.
func jitter(d time.Duration) time.Duration { return jittered(d, rand.Float64()) }
