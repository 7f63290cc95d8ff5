package bridge

import (
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// settleTries is how many times a failed disk operation is retried. The pause before the
// first retry is settlePause, and it doubles for each further retry. If the last retry
// fails, the message stays claimed, and the next sweep tries again.
const (
	settleTries = 6
	settlePause = 100 * time.Millisecond
)

// A filing is a finished message that is waiting to be filed with its receipt.
type filing struct {
	*flight
	dropbox.Settlement
	outcome string
}

// settle files a finished message.
func (o *poster) settle(f *flight, outcome string) { o.settleWith(f, outcome, "") }

func (o *poster) settleWith(f *flight, outcome, why string) {
	st := settlement(f.Entry, o.mail.name, outcome, there{
		Server: o.link.Server(), Target: f.to.target, Lines: f.shown.Lines, MsgIDs: f.shown.MsgIDs, Again: f.shown.Again, Why: why,
	})
	f.filing = true
	o.filings = append(o.filings, filing{f, st, outcome})
	o.fileNext()
}

// fileNext files the finished messages in parallel with the loop. Messages that finish in
// the meantime form the next batch, because filing many messages takes as long as filing
// one. A batch has at most maxUnsettled messages.
func (o *poster) fileNext() {
	if o.atFiling || len(o.filings) == 0 {
		return
	}
	batch := o.filings
	o.filings, o.atFiling = nil, true
	list := make([]dropbox.Settlement, len(batch))
	for i, f := range batch {
		list[i] = f.Settlement
	}
	o.loop.do(func() func() {
		errs := o.mail.box.SettleBatch(list)
		return func() {
			o.atFiling = false
			o.rec.changed()
			for i, f := range batch {
				filed := func() {
					if f.outcome == outcomeSaid {
						o.rec.state.Sent++
					}
				}
				if errs[i] != nil {
					o.onDisk(f.flight, "message was not filed", func() error { return o.mail.file(f.Settlement) }, filed)
					continue
				}
				delete(o.flights, f.ID)
				filed()
			}
			o.fileNext()
		}
	})
}

// onDisk performs the last disk operation for a message in parallel with the loop, and
// retries the operation if it fails. Once the operation has succeeded, the loop calls
// then().
func (o *poster) onDisk(f *flight, what string, step func() error, then func()) {
	f.filing = true
	o.loop.do(func() func() {
		err := step()
		for pause := settlePause; err != nil && pause < settlePause<<settleTries; pause *= 2 {
			select {
			case <-time.After(pause):
			case <-o.loop.ctx.Done():
			}
			err = step()
		}
		return func() {
			delete(o.flights, f.ID)
			o.rec.changed()
			if err != nil {
				o.rec.trouble(what, err)
				return
			}
			then()
		}
	})
}
