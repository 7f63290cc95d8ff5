package acp

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/follow"
)

// faultData is what clients put into the data of an error.
type faultData struct {
	Message string          `json:"message"`
	Details string          `json:"details"`
	Info    json.RawMessage `json:"codexErrorInfo"`
	Status  int             `json:"statusCode"`
	HTTP    int             `json:"httpStatus"`
	ResetAt int64           `json:"resets_at"`
}

func (f *fault) data() (d faultData) {
	lenient(f.Data, &d)
	return d
}

// text returns the error for a person.
func (f *fault) text() string {
	d := f.data()
	var parts []string
	for _, text := range []string{strings.TrimSpace(f.Message), strings.TrimSpace(d.Message), strings.TrimSpace(d.Details)} {
		if text == "" || text == "Internal error" && d.Message+d.Details != "" {
			continue
		}
		if len(parts) > 0 && strings.Contains(parts[len(parts)-1], text) {
			continue
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		return "error " + strconv.Itoa(f.Code)
	}
	return strings.Join(parts, ": ")
}

// status returns the HTTP status in an error; 0 where the error has none. gemini gives it
// as the code.
func (f *fault) status() int {
	d := f.data()
	for _, n := range []int{f.Code, d.Status, d.HTTP, statusIn(d.Info)} {
		if n >= 400 && n < 600 {
			return n
		}
	}
	return 0
}

// statusIn returns the HTTP status in codex's information about an error:
// {"x":{"httpStatus":503}}.
func statusIn(info json.RawMessage) int {
	var object map[string]struct {
		Status int `json:"httpStatus"`
	}
	if json.Unmarshal(info, &object) == nil {
		for _, each := range object {
			return each.Status
		}
	}
	return 0
}

// classify returns the verdict on an error. The cause is the account, the service or the
// set-up, or is unknown where the client names none of them.
func (e *exchange) classify(f *fault, inTurn bool) follow.Verdict {
	if f.Code == codeAuthRequired {
		return notSignedIn(e, f)
	}
	v := e.classifyText(f.text(), f.status(), errorInfo(f.data().Info))
	if at := f.data().ResetAt; at > 0 && v.End == runner.Limited {
		v.ResetAt = time.Unix(at, 0)
	}
	if v.Unknown && !inTurn {
		return follow.Verdict{End: runner.NoFirstEvent, Reason: e.program() + ": " + f.text(), Hint: "look at " + e.turn.Stderr}
	}
	return v
}

// words are regular expressions for the texts of errors that no field explains.
type words struct{ status, limit, away, signIn, noModel *regexp.Regexp }

var errorWords = sync.OnceValue(func() words {
	return words{
		status:  regexp.MustCompile(`(?i)\b(?:status|error|code|http)\b[^0-9]{0,12}\b([45]\d\d)\b|\b(429|529) `),
		limit:   regexp.MustCompile(`(?i)\busage limit\b|\brate.?limit|\bquota\b|\btoo many requests\b|\bhit your limit\b|\bout of credits?\b|\binsufficient (?:funds|credits?|quota)\b`),
		away:    regexp.MustCompile(`(?i)\boverloaded\b|\bhigh demand\b|\bat capacity\b|\bstream (?:disconnected|error)|\bECONN[A-Z]+|\bENOTFOUND\b|\bEAI_AGAIN\b|\bfetch failed\b|\bsocket hang up\b|\bnetwork error\b|\btimed? ?out\b|\bconnection (?:refused|reset|error|closed)\b|\bservice unavailable\b|\bbad gateway\b`),
		signIn:  regexp.MustCompile(`(?i)\bauthentication required\b|\bnot (?:signed|logged) in\b|\bunauthorized\b|\binvalid (?:api|x-api)[- ]?key\b|\bapi key not valid\b|\bplease (?:sign|log) in\b`),
		noModel: regexp.MustCompile(`(?i)\bmodel\b.{0,80}\b(?:not found|does not exist|not supported|is unknown|unsupported)\b|\bunknown model\b|\bunsupported format of modelid\b`),
	}
})

// classifyText returns the verdict on an error that is only a text. status is the HTTP
// status, or 0 if no field has it, and info is codex's word for the cause.
func (e *exchange) classifyText(text string, status int, info string) follow.Verdict {
	says := errorWords()
	if found := says.status.FindStringSubmatch(text); status == 0 && found != nil {
		status, _ = strconv.Atoi(found[1] + found[2])
	}
	limited := follow.Verdict{End: runner.Limited, Reason: text, Hint: hintAway, ResetAt: runner.ResetTime(text, time.Now())}
	hasLimit := says.limit.MatchString(text)
	for _, p := range e.client.Limits {
		hasLimit = hasLimit || matches(p, text) != nil
	}
	switch {
	case info == "usageLimitExceeded", hasLimit:
		return limited
	case status == 401, says.signIn.MatchString(text):
		return follow.Verdict{End: runner.Refused, Reason: text, Hint: e.client.Kind.Login.Try}
	case status == 404, says.noModel.MatchString(text):
		return follow.Verdict{End: runner.Refused, Reason: text, Hint: "change model: of agent " + e.turn.Agent}
	case status == 402, status == 403, status == 408, status == 409, status == 429, status >= 500, says.away.MatchString(text):
		return limited
	case status != 0:
		return follow.Verdict{End: runner.Failed, Reason: text, Hint: hintLogs(e)}
	}
	limited.Unknown = true
	return limited
}

// matches applies a regular expression of the table or of the configuration, which has
// checked it. It returns nil when the text does not match.
func matches(pattern, text string) []string {
	p, err := regexp.Compile(pattern)
	if err != nil {
		return nil
	}
	return p.FindStringSubmatch(text)
}
