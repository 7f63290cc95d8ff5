package claude

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/follow"
)

// Error results fall into three classes:
//
//	account and service   Limited: the message waits, and the attempt is not counted
//	setup                 Refused: the agent stops until a person has changed something
//	the message           Failed: the attempt is counted
//
// These fields determine the class: the HTTP status, the error name on the assistant line
// (error), and since 2.1.330 the API's error type (api_error_type) and the client's error
// code (api_error). If no field identifies the cause, the error text is used.

// These are values of api_error in the output of 2.1.330.
const (
	codeUsageLimit   = "usage_limit_reached"
	codeNoConnection = "connection_failed"
	codeUntrustedTLS = "tls_untrusted_ca"
	codeDisabledOrg  = "org_disabled_credential"
	codeLargePDF     = "pdf_too_large"
	codeHistory      = "tool_history_mismatch"
)

// These are hints for the class "account and service". All failures of an unavailable
// service share one hint, because the lead gets each hint only once.
const (
	hintAway     = "nothing has to be done; if it persists, check the network, ANTHROPIC_BASE_URL if it is set, and https://status.claude.com"
	hintWait     = "nothing has to be done"
	hintPay      = "buy credit for the API key, or use another login"
	hintTrustTLS = "set NODE_EXTRA_CA_CERTS in env: to the certificates of your proxy or gateway, or check ANTHROPIC_BASE_URL"
)

// An apiFailure contains the fields and the text of an error result.
type apiFailure struct {
	status  int    // HTTP status; 0 if there is none
	problem string // error on the assistant line
	kind    string // api_error_type
	code    string // api_error
	text    string // text of the result, written by the client, not by the model
}

func (e evidence) failure() apiFailure {
	return apiFailure{
		status: cmp.Or(e.own.APIStatus, e.api.Status), problem: e.problem, kind: cmp.Or(e.own.APIType, e.api.Type),
		code: cmp.Or(e.own.APICode, e.api.Code), text: firstOf(e.own.Text, strings.Join(e.own.Errors, "; ")),
	}
}

// errorResult returns the verdict on an error result.
func (e evidence) errorResult() follow.Verdict {
	f := e.failure()
	text := firstOf(f.text, e.words, "the client reports a failure ("+e.own.Subtype+")")
	if contains(text+" "+strings.Join(e.own.Errors, " "), "no conversation found") {
		return follow.Verdict{End: runner.NoSession, Reason: "the session " + e.turn.Session.ID + " was not found", Hint: freshSession}
	}
	switch e.own.Subtype {
	case "error_max_turns":
		return follow.Verdict{End: runner.Failed, Reason: "it reached the maximum number of turns that its command allows", Hint: "raise --max-turns in command:, or give it less work at a time"}
	case capSubtype:
		return e.capVerdict()
	}
	if v, ok := brokenSettings(text); ok && e.own.Turns == 0 {
		return v
	}
	if v, ok := e.accountOrSetUp(f, text); ok {
		return v
	}
	if hint, ok := e.messageHint(f); ok {
		return follow.Verdict{End: runner.Failed, Reason: text, Hint: hint, Rejected: e.own.StopReason != "refusal"}
	}
	if f.problem == "unknown" {
		v := unavailable(text, runner.ServiceFailed)
		v.Unknown = true
		return v
	}
	return follow.Verdict{End: runner.Failed, Reason: text, Hint: e.look()}
}

// capVerdict returns the verdict on a turn that has reached its cap.
func (e evidence) capVerdict() follow.Verdict {
	usd := capOf(e.turn)
	if usd == 0 {
		return follow.Verdict{End: runner.Failed, Reason: "it spent what its command allows for one turn", Hint: "raise --max-budget-usd in command:, or give it less work at a time"}
	}
	return follow.Verdict{End: runner.CapReached, Reason: "it spent the " + strconv.FormatFloat(usd, 'f', 2, 64) + " USD that was reserved for the turn",
		Hint: "claude-swarm budget shows what is left"}
}

// accountOrSetUp returns the verdict on an error that the message did not cause.
func (e evidence) accountOrSetUp(f apiFailure, text string) (follow.Verdict, bool) {
	switch {
	case f.code == codeUsageLimit || f.status == http.StatusTooManyRequests || f.problem == "rate_limit" || isLimitText(f.text):
		return e.usageLimit(f, text), true
	case f.problem == "billing_error" || f.kind == "billing_error" || f.status == http.StatusPaymentRequired || contains(f.text, "credit balance"):
		return limited(text, hintPay), true
	case f.code == codeDisabledOrg || f.status == http.StatusBadRequest && contains(f.text, "disabled organization"):
		return e.refusedKey(text), true
	case f.code == codeUntrustedTLS || f.code == "" && f.status == 0 && contains(f.text, "certificate"):
		return limited(text, hintTrustTLS), true
	case f.code == codeNoConnection:
		return unavailable(text, runner.ServiceAway), true
	case f.status == http.StatusNotFound || f.problem == "model_not_found":
		return follow.Verdict{End: runner.BadSetup, Reason: text, Hint: "set model: for agent " + e.turn.Agent + " to one that your account can use"}, true
	case f.status == http.StatusUnauthorized:
		return e.unauthorized(text), true
	case f.status == http.StatusForbidden || f.problem == "oauth_org_not_allowed":
		return e.forbidden(text), true
	case f.problem == "authentication_failed" || f.status == 0 && contains(f.text, "please run /login"):
		return e.refusedKey(text), true // no request was sent, because there is neither a key nor a login
	case f.status == http.StatusRequestTimeout || f.status == http.StatusConflict || f.status >= 500,
		f.problem == "server_error" && f.status == 0, f.kind == "overloaded_error" || f.problem == "overloaded",
		f.status == 0 && isAwayText(f.text):
		how := runner.ServiceAway
		if f.status != 0 || f.kind != "" || contains(f.text, "overloaded") {
			how = runner.ServiceFailed
		}
		return unavailable(text, how), true
	}
	return follow.Verdict{}, false
}

// isAwayText reports whether an error text means that the service is unavailable. It is
// needed for clients whose output has no field for this (2.1.197) and for answers that do
// not come from the API.
func isAwayText(text string) bool {
	for _, words := range []string{"unable to connect to api", "request timed out", "connection error", "overloaded", "malformed response"} {
		if contains(text, words) {
			return true
		}
	}
	return false
}

// messageHint returns the hint for a message that the API rejects.
func (e evidence) messageHint(f apiFailure) (string, bool) {
	switch {
	case contains(f.text, "prompt is too long"):
		return "set session: fresh for this agent, or a smaller compact_window", true
	case f.code == codeHistory || contains(f.text, "tool use concurrency"):
		return "its conversation is damaged: claude-swarm clear " + e.turn.Agent + " begins a new one", true
	case f.code == codeLargePDF || contains(f.text, "pdf too large"):
		return "give it the PDF in smaller parts, or as text", true
	case f.status == http.StatusRequestEntityTooLarge || f.kind == "request_too_large":
		return "give it fewer or smaller files at a time; claude-swarm clear " + e.turn.Agent + " begins another conversation", true
	case f.problem == "invalid_request" && contains(f.text, "image"):
		return "make the image smaller; claude-swarm clear " + e.turn.Agent + " begins a conversation without it", true
	case e.own.StopReason == "refusal":
		return "the model refuses this text: reword it, or set another model: for agent " + e.turn.Agent, true
	case f.status == http.StatusBadRequest || f.problem == "invalid_request" || f.kind == "invalid_request_error":
		// The rejected content may already be part of the conversation.
		return e.look() + "; claude-swarm clear " + e.turn.Agent + " begins another conversation", true
	}
	return "", false
}

// limited returns the verdict on a turn that failed because of the account or the service.
// Neither the message nor the agent is the cause.
func limited(text, hint string) follow.Verdict {
	return follow.Verdict{End: runner.Limited, Reason: text, Hint: hint}
}

// unavailable returns the verdict on a turn that met an error of the service.
func unavailable(text string, how runner.ServiceError) follow.Verdict {
	v := limited(text, hintAway)
	v.Service = how
	return v
}

// usageLimit distinguishes a usage limit, which ends at a known time, from brief
// throttling by the service. The client's rate limit event contains the end of the
// account's limit window in both cases.
func (e evidence) usageLimit(f apiFailure, text string) follow.Verdict {
	v := limited(text, hintWait)
	switch {
	case f.code != codeUsageLimit && !isLimitText(f.text):
	case e.api.ResetsAt > 0:
		v.ResetAt = time.Unix(e.api.ResetsAt, 0)
	case !e.resetAt.IsZero():
		v.ResetAt = e.resetAt
	default:
		v.ResetAt = runner.ResetTime(text, e.now)
	}
	return v
}

// refusedByAPI returns the verdict on a turn whose client keeps retrying after the API
// has rejected its key or login.
func (e evidence) refusedByAPI(status int) follow.Verdict {
	switch {
	case status == http.StatusForbidden:
		return e.forbidden(fmt.Sprintf("the API refuses the account (%d)", status))
	case e.keyed():
		return e.refusedKey(fmt.Sprintf("the API refuses the key (%d)", status))
	}
	return e.unauthorized(fmt.Sprintf("the API refuses the login (%d)", status))
}

// unauthorized returns the verdict on a 401. A wrong key remains wrong, but a login can
// be renewed by a person or by another client that uses the same login.
func (e evidence) unauthorized(text string) follow.Verdict {
	if e.keyed() || e.source == "" && contains(text, "api key") {
		return e.refusedKey(text)
	}
	return limited(text, "log in with claude /login, or set a new CLAUDE_CODE_OAUTH_TOKEN")
}

// forbidden returns the verdict on a 403, which means that the account currently cannot
// use the API because of its organization, its country or a proxy.
func (e evidence) forbidden(text string) follow.Verdict {
	return limited(text, "check the account, log in with claude /login, or use an API key")
}

func (e evidence) refusedKey(text string) follow.Verdict {
	return follow.Verdict{End: runner.BadSetup, Reason: text,
		Hint: "log in with claude /login, or set ANTHROPIC_API_KEY in env: for agent " + e.turn.Agent}
}

// keyed reports whether the client uses a key or a fixed token rather than a login. The
// init line contains "none" for ANTHROPIC_AUTH_TOKEN, for a login, and when there are no
// credentials.
func (e evidence) keyed() bool {
	if e.source != "" && e.source != "none" {
		return true
	}
	names := []string{"ANTHROPIC_AUTH_TOKEN="}
	if e.source == "" {
		names = append(names, "ANTHROPIC_API_KEY=")
	}
	for _, entry := range e.turn.Env {
		for _, name := range names {
			if value, ok := strings.CutPrefix(entry, name); ok && value != "" {
				return true
			}
		}
	}
	return false
}
