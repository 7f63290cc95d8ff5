package claude

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A spending finds out what a turn has cost while it runs. The client reports its cost only
// with a result, but it tells its running total on request (get_usage, versions 2.1.197 to
// 2.1.332), without a call of the model. The total grows when an answer of the model is
// complete, so the client is asked when a tool call has been answered.
//
// In a process that continues the session of an earlier one, the total may include that
// process, so the first answer serves as the base. Costs of the turn before that answer are
// missing until its first result, and the figure is a lower bound in any case.
//
// Only the turn's goroutine uses it.
type spending struct {
	asked  time.Time // when the last question was sent
	number int       // of the last question
	waits  bool      // the last question has not been answered yet
	cannot bool      // the client does not know the question
	base   *float64  // the total at the first answer, in US dollars
}

// spentQuestion is the prefix of the ids of our questions.
const spentQuestion = "claude-swarm-spent-"

// A client with an API key answers from memory. A client with a subscription also asks the
// vendor for the state of its limits, so it is asked less often.
const (
	askSpentFromKey  = 5 * time.Second
	askSpentFromPlan = 2 * time.Minute
)

// askSpent asks the client for its running total, if an answer is due.
func (r *follower) askSpent(now time.Time) {
	s := &r.spending
	every := askSpentFromPlan
	if billing(r.seen.source, r.turn.Env) == runner.BillingAPI {
		every = askSpentFromKey
	}
	if r.turn.Spent == nil || s.cannot || s.waits || !s.asked.IsZero() && now.Sub(s.asked) < every {
		return
	}
	if r.followed || r.run.Ending() || r.run.Closing() || !r.run.CanSend() {
		return
	}
	s.number++
	s.asked, s.waits = now, true
	r.run.Send(fmt.Appendf(nil, `{"type":"control_request","request_id":%q,"request":{"subtype":"get_usage","skip_behaviors":true}}`+"\n", spentQuestion+strconv.Itoa(s.number)))
}

// isSpentAnswer reports whether ev is an answer to one of our questions, also to one of an
// earlier turn of the client. An answer is no event of the turn, and no sign of life: the
// client gives it while its model is silent.
func isSpentAnswer(ev *streamjson.Event) bool {
	return ev.Kind == streamjson.KindControl && ev.Control != nil && strings.HasPrefix(ev.Control.RequestID, spentQuestion)
}

// spentAnswer handles the answer to a question.
func (r *follower) spentAnswer(ev *streamjson.Event) {
	s := &r.spending
	if !r.followed && ev.Control.RequestID != spentQuestion+strconv.Itoa(s.number) {
		return // the question of an earlier turn
	}
	s.waits = false
	if !ev.Control.OK {
		s.cannot = true
		return
	}
	var answer struct {
		Response struct {
			Response struct {
				Session struct {
					USD *float64 `json:"total_cost_usd"`
				} `json:"session"`
			} `json:"response"`
		} `json:"response"`
	}
	if json.Unmarshal(ev.Raw, &answer) != nil || answer.Response.Response.Session.USD == nil {
		s.cannot = true
		return
	}
	total := *answer.Response.Response.Session.USD
	account := &r.run.Account
	if r.turn.Session.How != runner.New && !r.warm && len(account.Results()) == 0 {
		if s.base == nil || total < *s.base {
			s.base = &total
		}
		r.reportSpent(total - *s.base)
		return
	}
	if usd, ok := account.CostAt(total); ok {
		r.reportSpent(usd)
	}
}

// reportSpent reports what the turn has cost so far, in US dollars.
func (r *follower) reportSpent(usd float64) {
	if r.turn.Spent != nil && usd > 0 {
		r.turn.Spent(usd)
	}
}
