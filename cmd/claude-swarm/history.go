package main

import (
	"cmp"
	"fmt"
	"io"
	"time"

	"github.com/fatih/color"
	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm"
)

func historyCommand() *cli.Command {
	return &cli.Command{
		Name:      "history",
		Category:  groupAgents,
		Usage:     "list what an agent did",
		ArgsUsage: "AGENT",
		Description: `Lists the turns of an agent, oldest first: when they ended, how, how long they
took, what they cost, and what they were about.` +
			examples("claude-swarm history coder --since 24h", "claude-swarm history coder -n 5 --json"),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "since", Usage: "only what ended within `D` (24h, 7d)"},
			&cli.IntFlag{Name: "n", Usage: "only the last `N`"},
			jsonFlag(),
		},
		Action: history,
	}
}

// A pastTurn is one line of a history.
type pastTurn struct {
	At      time.Time      `json:"at"` // the end
	Turn    string         `json:"turn"`
	Message string         `json:"message"`
	From    string         `json:"from"`
	Subject string         `json:"subject,omitempty"` // or the beginning of the text
	Outcome string         `json:"outcome"`
	Reason  string         `json:"reason,omitempty"`
	Seconds float64        `json:"seconds"`
	CostUSD float64        `json:"cost_usd"`
	Receipt *swarm.Receipt `json:"receipt,omitempty"` // of a turn that ended well
}

// A historyView is what history prints.
type historyView struct {
	V       int        `json:"v"`
	Agent   string     `json:"agent"`
	Turns   []pastTurn `json:"turns"`
	CostUSD float64    `json:"cost_usd"` // of these turns
	Failed  int        `json:"failed"`
}

func history(c *cli.Context) error {
	if c.NArg() != 1 {
		return usagef("claude-swarm status", "history: name one agent")
	}
	var since time.Time
	if s := c.String("since"); s != "" {
		d, err := parseSpan(s)
		if err != nil {
			return usagef("claude-swarm history "+c.Args().First()+" --since 24h", "--since: %v", err)
		}
		since = time.Now().Add(-d)
	}
	if c.IsSet("n") && c.Int("n") < 1 {
		return usagef("claude-swarm history "+c.Args().First()+" -n 5", "-n: want 1 or more")
	}
	p, err := openPost(c)
	if err != nil {
		return err
	}
	defer p.close()
	agent, err := p.agent(c.Args().First(), "claude-swarm history %s")
	if err != nil {
		return err
	}
	view, err := p.history(agent.Name, since, c.Int("n"))
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, view)
	}
	view.write(c.App.Writer, time.Now())
	return nil
}

// history reads the ledger, and for the turns that are shown what lies beside
// their messages. n 0 is all.
func (p *post) history(agent string, since time.Time, n int) (*historyView, error) {
	view := &historyView{V: 1, Agent: agent, Turns: []pastTurn{}}
	err := swarm.ReadLedger(p.home.Ledger(), func(l swarm.LedgerLine) bool {
		if l.Agent != agent || l.At.Before(since) {
			return true
		}
		view.Turns = append(view.Turns, pastTurn{
			At: l.At, Turn: l.Turn, Message: l.Message, From: l.From, Subject: l.Subject,
			Outcome: l.Outcome, Reason: l.Reason, Seconds: l.Seconds, CostUSD: l.CostUSD,
		})
		if n > 0 && len(view.Turns) > n {
			view.Turns = view.Turns[1:]
		}
		return true
	})
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	for i := range view.Turns {
		p.fillIn(&view.Turns[i])
		view.CostUSD += view.Turns[i].CostUSD
		if view.Turns[i].Outcome != outcomeDone {
			view.Failed++
		}
	}
	return view, nil
}

// outcomeDone is the outcome of a turn that ended well.
const outcomeDone = "done"

// fillIn adds what the message and its receipt say. Both may be gone: the
// ledger is kept longer.
func (p *post) fillIn(t *pastTurn) {
	found, err := p.store.Find(t.Message)
	if err != nil {
		return
	}
	if t.Subject == "" {
		if m, err := p.store.Load(found); err == nil {
			t.Subject = gist(m)
		}
	}
	if t.Outcome != outcomeDone || found.State != dropbox.Done {
		return
	}
	if r, err := p.receiptOf(found); err == nil && r.Turn == t.Turn {
		t.Receipt = r
	}
}

// write prints the history as a table, and below it what it adds up to.
func (v *historyView) write(w io.Writer, now time.Time) {
	if len(v.Turns) == 0 {
		fmt.Fprintf(w, "%s has done nothing yet\n", v.Agent)
		return
	}
	pal := paletteOf(w)
	var t table
	for _, turn := range v.Turns {
		about := turn.Subject
		if turn.Reason != "" && turn.Outcome != outcomeDone {
			about = turn.Reason
		} else if turn.Receipt != nil && len(turn.Receipt.Files) > 0 {
			about += " (" + count(len(turn.Receipt.Files), "file") + ")"
		}
		t.add(moment(turn.At, now), turn.Message, turn.Outcome, span(time.Duration(turn.Seconds*float64(time.Second))),
			usd(turn.CostUSD), cmp.Or(turn.From, "-"), oneLine(about))
	}
	t.write(w, func(row, column int, cell string) string {
		if column == 2 && v.Turns[row].Outcome != outcomeDone {
			return pal.paint(cell, color.FgRed)
		}
		return cell
	})
	total := count(len(v.Turns), "turn")
	if v.Failed > 0 {
		total += fmt.Sprintf(", %d of them not done", v.Failed)
	}
	fmt.Fprintf(w, "\n%s · %s\n", total, usd(v.CostUSD))
}
