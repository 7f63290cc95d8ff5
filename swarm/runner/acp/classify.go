package acp

import (
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/follow"
)

// classify returns the verdict on an error. The verdict names the cause (the account, the
// service, the setup or the message), which is unknown if the client does not report it.
func (p *program) classify(f *fault, inTurn bool) follow.Verdict {
	if f.Code == codeAuthRequired {
		return p.notSignedIn(f)
	}
	v := p.classifyText(f.text(), f.status(), errorInfo(f.data().Info))
	if at := f.data().ResetAt; at > 0 && v.End == runner.Limited {
		v.ResetAt = time.Unix(at, 0)
	}
	if v.Unknown && !inTurn {
		return follow.Verdict{End: runner.NoFirstEvent, Reason: p.name + ": " + f.text(), Hint: p.hintStderr()}
	}
	return v
}

// words are regular expressions for the messages of errors whose fields do not identify
// the cause.
type words struct{ status, limit, away, signIn, noModel *regexp.Regexp }

var errorWords = sync.OnceValue(func() words {
	return words{
		status:  regexp.MustCompile(`(?i)\b(?:status|error|code|http)\b[^0-9]{0,12}\b([45]\d\d)\b|\b(429|529) `),
		limit:   regexp.MustCompile(`(?i)\busage limit\b|\brate.?limit|\bquota\b|\btoo many requests\b|\bhit your limit\b|\bout of credits?\b|\binsufficient (?:funds|credits?|quota)\b`),
		away:    regexp.MustCompile(`(?i)\boverloaded\b|\bhigh demand\b|\bat capacity\b|\bstream (?:disconnected|error)|\bECONN[A-Z]+|\bENOTFOUND\b|\bEAI_AGAIN\b|\bfetch failed\b|\bsocket hang up\b|\bnetwork error\b|\btimed? ?out\b|\bconnection (?:was )?(?:refused|reset|error|closed)\b|\bunexpected EOF\b|\bservice unavailable\b|\bbad gateway\b`),
		signIn:  regexp.MustCompile(`(?i)\bauthentication required\b|\bnot (?:signed|logged) in\b|\bunauthorized\b|\binvalid (?:api|x-api)[- ]?key\b|\bapi key not valid\b|\bplease (?:sign|log) in\b`),
		noModel: regexp.MustCompile(`(?i)\bmodel\b.{0,80}\b(?:not found|does not exist|not supported|is unknown|unsupported)\b|\bunknown model\b|\bunsupported format of modelid\b`),
	}
})

// classifyText returns the verdict on an error with this text. status is the HTTP status, or
// 0 if no field contains it. info is codex's name for the cause.
func (p *program) classifyText(text string, status int, info string) follow.Verdict {
	says := errorWords()
	if found := says.status.FindStringSubmatch(text); status == 0 && found != nil {
		status, _ = strconv.Atoi(found[1] + found[2])
	}
	limited := follow.Verdict{End: runner.Limited, Reason: text, Hint: hintAway, ResetAt: runner.ResetTime(text, time.Now())}
	hasLimit := says.limit.MatchString(text)
	for _, pattern := range p.client.Limits {
		hasLimit = hasLimit || matches(pattern, text) != nil
	}
	switch {
	case info == "usageLimitExceeded", hasLimit:
		return limited
	case status == 401, says.signIn.MatchString(text):
		return follow.Verdict{End: runner.BadSetup, Reason: text, Hint: p.client.Kind.Login.Try}
	case status == 404, says.noModel.MatchString(text):
		return follow.Verdict{End: runner.BadSetup, Reason: text, Hint: "change model: for agent " + p.agent}
	case status == 402, status == 403, status == 429:
		return limited
	case status == 408, status == 409, status >= 500:
		limited.Service = runner.ServiceFailed
		return limited
	case says.away.MatchString(text):
		limited.Service = runner.ServiceAway
		return limited
	case status != 0:
		return follow.Verdict{End: runner.Failed, Reason: text, Hint: p.hintLogs(), Rejected: isRejected(status)}
	}
	limited.Unknown, limited.Service = true, runner.ServiceFailed
	return limited
}

// isRejected reports whether a status means that the API rejected the content of a request.
func isRejected(status int) bool { return status == 400 || status == 413 || status == 422 }

// matches applies a regular expression to a string, and returns nil if the string does not
// match. The expression is valid because it is either in the table or was checked along
// with the configuration.
func matches(pattern, text string) []string {
	p, err := regexp.Compile(pattern)
	if err != nil {
		return nil
	}
	return p.FindStringSubmatch(text)
}
