package ircbridge

import (
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// Outcomes of a receipt.
const (
	outcomeSaid     = "said"
	outcomeJoined   = "joined"
	outcomeLeft     = "left"
	outcomeTopic    = "topic set"
	outcomeNotShown = "not shown" // a copy of a message that is safe elsewhere
	outcomeAnswered = "answered"
	outcomeNoAnswer = "not answered"
)

// A receipt says what became of a message in irc/. It begins as those of turns do, so
// that whoever reads those can read it.
type receipt struct {
	V       int       `yaml:"v"`
	ID      string    `yaml:"id"`
	Agent   string    `yaml:"agent"`
	Via     string    `yaml:"via"`
	Outcome string    `yaml:"outcome"`
	Ended   time.Time `yaml:"ended"`
	IRC     struct {
		Server string   `yaml:"server"`
		Target string   `yaml:"target,omitempty"`
		Lines  int      `yaml:"lines,omitempty"`
		MsgIDs []string `yaml:"msgids,omitempty"`
		Again  bool     `yaml:"again,omitempty"` // a part of it was said again, marked
		Why    string   `yaml:"why,omitempty"`
	} `yaml:"irc"`
}

// A filing is a message that is done with, and waits to be filed with its receipt.
type filing struct {
	*flight
	dropbox.Settlement
	outcome string
}

// settle files a message that is done with.
func (r *run) settle(f *flight, outcome string) { r.settleWith(f, outcome, "") }

func (r *run) settleWith(f *flight, outcome, why string) {
	rec := r.receipt(f.ID, outcome)
	rec.IRC.Target, rec.IRC.Lines, rec.IRC.MsgIDs, rec.IRC.Again, rec.IRC.Why = f.place.target, f.lines, f.msgids, f.marked, why
	f.filing = true
	r.filings = append(r.filings, filing{f, settlement(f.Entry, rec), outcome})
	r.fileNext()
}

// receipt begins the receipt of a message.
func (r *run) receipt(id, outcome string) receipt {
	rec := receipt{V: 1, ID: id, Agent: dropbox.IRC, Via: "mailbox", Outcome: outcome, Ended: time.Now().UTC()}
	rec.IRC.Server = r.Server.HostPort()
	return rec
}

func settlement(e dropbox.Entry, rec receipt) dropbox.Settlement {
	data, err := yaml.Marshal(rec)
	if err != nil {
		panic(err) // strings, numbers and a time
	}
	return dropbox.Settlement{Entry: e, Receipt: data}
}

// fileNext files what is done with, away from the loop. What is done with meanwhile is
// filed after that, all together: to file one takes as long as to file many. There are
// never more than may be unsettled.
func (r *run) fileNext() {
	if r.atFiling || len(r.filings) == 0 {
		return
	}
	batch := r.filings
	r.filings, r.atFiling = nil, true
	list := make([]dropbox.Settlement, len(batch))
	for i, f := range batch {
		list[i] = f.Settlement
	}
	r.do(func() func() {
		errs := r.box.SettleBatch(list)
		return func() {
			r.atFiling, r.dirty = false, true
			for i, f := range batch {
				filed := func() {
					if f.outcome == outcomeSaid {
						r.state.Sent++
					}
				}
				if errs[i] != nil {
					r.onDisk(f.flight, "message was not filed", func() error { return r.file(f.Settlement) }, filed)
					continue
				}
				delete(r.flights, f.ID)
				filed()
			}
			r.fileNext()
		}
	})
}

// file files one message. It may be repeated.
func (r *run) file(st dropbox.Settlement) error {
	return r.box.SettleBatch([]dropbox.Settlement{st})[0]
}
