package claude

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/follow"
)

// errorRows lists every recorded failure of the API, the network, a proxy or the login,
// each with the expected end and part of the expected hint. TestWhatTheAPIRefuses in
// internal/e2e recorded the real clients' output in testdata/errors.
var errorRows = map[string]struct {
	end   runner.End
	hint  string
	reset bool // the end of the limit is known
}{
	// The account or the service is the cause.
	"401-login":      {runner.Limited, "log in with claude /login", false},
	"401-expired":    {runner.Limited, "log in with claude /login", false},
	"402":            {runner.Limited, hintPay, false},
	"403":            {runner.Limited, "check the account", false},
	"403-revoked":    {runner.Limited, "log in with claude /login", false},
	"403-org":        {runner.Limited, "use an API key", false},
	"408":            {runner.Limited, hintAway, false},
	"409":            {runner.Limited, hintAway, false},
	"429-key":        {runner.Limited, hintWait, false},
	"429-login":      {runner.Limited, hintWait, false},
	"five-hour":      {runner.Limited, hintWait, true},
	"seven-day":      {runner.Limited, hintWait, true},
	"seven-day-opus": {runner.Limited, hintWait, true},
	"overage":        {runner.Limited, hintWait, true},
	"500":            {runner.Limited, hintAway, false},
	"502":            {runner.Limited, hintAway, false},
	"503":            {runner.Limited, hintAway, false},
	"504":            {runner.Limited, hintAway, false},
	"529":            {runner.Limited, hintAway, false},
	"no-credit":      {runner.Limited, hintPay, false},
	"html":           {runner.Limited, hintAway, false},
	"error-event":    {runner.Limited, hintAway, false},
	"stream-cut":     {runner.Limited, hintAway, false},
	"refused":        {runner.Limited, hintAway, false},
	"dns":            {runner.Limited, hintAway, false},
	"no-route":       {runner.Limited, hintAway, false},
	"reset":          {runner.Limited, hintAway, false},
	"closed":         {runner.Limited, hintAway, false},
	"tls-to-plain":   {runner.Limited, "ANTHROPIC_BASE_URL", false}, // 2.1.197 reports a certificate error
	"tls-untrusted":  {runner.Limited, hintTrustTLS, false},
	"timeout":        {runner.Limited, hintAway, false},
	// The setup is the cause.
	"401-key":       {runner.BadSetup, "set ANTHROPIC_API_KEY", false},
	"401-key-again": {runner.BadSetup, "set ANTHROPIC_API_KEY", false}, // we terminate the client while it is retrying
	"401-token":     {runner.BadSetup, "set ANTHROPIC_API_KEY", false},
	"404":           {runner.BadSetup, "set model:", false},
	"no-login":      {runner.BadSetup, "log in with claude /login", false},
	"org-disabled":  {runner.BadSetup, "set ANTHROPIC_API_KEY", false},
	// The message is the cause.
	"400":      {runner.Failed, "logs coder", false},
	"413":      {runner.Failed, "fewer or smaller files", false},
	"too-long": {runner.Failed, "compact_window", false},
	"image":    {runner.Failed, "make the image smaller", false},
	"images":   {runner.Failed, "make the image smaller", false},
	"pdf":      {runner.Failed, "in smaller parts", false},
	"history":  {runner.Failed, "claude-swarm clear coder", false},
	"refusal":  {runner.Failed, "refuses this text", false},
}

// TestRecordedErrors checks the verdict on each recorded error, of each version with
// recordings.
func TestRecordedErrors(t *testing.T) {
	recorded, err := filepath.Glob(filepath.Join("..", "..", "..", "testdata", "errors", "[0-9]*"))
	if err != nil || len(recorded) < 2 {
		t.Fatalf("errors are recorded in %q, %v; want two versions", recorded, err)
	}
	for _, dir := range recorded {
		version := filepath.Base(dir)
		files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
		if err != nil || len(files) != len(errorRows) {
			t.Errorf("%s: %d recorded errors, want %d (%v)", version, len(files), len(errorRows), err)
		}
		for name, want := range errorRows {
			t.Run(version+"/"+name, func(t *testing.T) {
				data, err := os.ReadFile(filepath.Join(dir, name+".jsonl"))
				if err != nil {
					t.Fatal(err)
				}
				v, resets := judgeRecorded(t, name, data)
				if v.End != want.end || !strings.Contains(v.Hint, want.hint) || v.Reason == "" || v.Hint == "" || strings.Contains(v.Hint, "claude-swarm start") {
					t.Errorf("judge = %s, %q, %q; want %s, …%s…", v.End, v.Reason, v.Hint, want.end, want.hint)
				}
				if v.ResetAt.IsZero() == want.reset || want.reset && CompareVersions(version, Oldest) > 0 && !v.ResetAt.Equal(resets) {
					t.Errorf("the limit ends at %v, want %v", v.ResetAt, resets)
				}
			})
		}
	}
}

// judgeRecorded returns the verdict on a client's recorded output for one turn. resets is
// the end of the limit according to the recorded event.
func judgeRecorded(t *testing.T, name string, data []byte) (v follow.Verdict, resets time.Time) {
	t.Helper()
	turn := runner.Turn{Agent: "coder", UUID: "u", Session: runner.Session{ID: "s-1"}}
	if name == "401-token" {
		turn.Env = []string{"ANTHROPIC_AUTH_TOKEN=x"}
	}
	r := new(backend).newFollower(t.Context(), turn)
	r.followed = true
	refused := 0 // the status of the last failed request that the client retried
	dec := streamjson.NewDecoder(bytes.NewReader(data), 0)
	for {
		ev, err := dec.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if ev.Kind == streamjson.KindRetry {
			refused = ev.Retry.Status
		}
		r.observe(ev)
	}
	e := r.evidence()
	e.exit.ExitCode = 1
	e.followed, e.now = false, time.Date(2026, 11, 22, 6, 0, 0, 0, time.UTC)
	if r.seen.refusals >= 2 { // we terminate the client after the second refusal
		return e.refusedByAPI(refused), time.Time{}
	}
	return judge(e), r.seen.resetAt
}

// The cases are errors that do not occur in the recordings, and errors with a field that
// contradicts the text.
func TestErrorFieldsBeforeTexts(t *testing.T) {
	for name, c := range map[string]struct {
		own     streamjson.Result
		problem string
		source  string
		env     []string
		end     runner.End
		unknown bool
	}{
		"a code says no connection":         {own: streamjson.Result{APICode: "connection_failed", Text: "API Error: new words"}, end: runner.Limited},
		"overloaded, without a status":      {own: streamjson.Result{Text: "API Error: Repeated 529 Overloaded errors"}, end: runner.Limited},
		"a limit by its code alone":         {own: streamjson.Result{APICode: "usage_limit_reached", Text: "new words"}, end: runner.Limited},
		"throttled, not the usage limit":    {own: streamjson.Result{APIStatus: 429, Text: "Server is temporarily limiting requests (not your usage limit) · resets 3pm"}, end: runner.Limited},
		"a 404 with a code of the client":   {own: streamjson.Result{APIStatus: 404, Text: "new words"}, end: runner.BadSetup},
		"unknown, without a status":         {own: streamjson.Result{Text: "API Error: something"}, problem: "unknown", end: runner.Limited, unknown: true},
		"unknown, with a strange status":    {own: streamjson.Result{APIStatus: 418, Text: "API Error: 418 teapot"}, problem: "unknown", end: runner.Limited, unknown: true},
		"unknown, and a 400":                {own: streamjson.Result{APIStatus: 400, Text: "API Error: 400 no"}, problem: "unknown", end: runner.Failed},
		"a 401 of a key helper":             {own: streamjson.Result{APIStatus: 401, Text: "x"}, source: "apiKeyHelper", end: runner.BadSetup},
		"a 401 without an init line":        {own: streamjson.Result{APIStatus: 401, Text: "x"}, env: []string{"ANTHROPIC_API_KEY=k"}, end: runner.BadSetup},
		"a 401 that only the text explains": {own: streamjson.Result{APIStatus: 401, Text: "Invalid API key"}, end: runner.BadSetup},
		"a 401 of a login, at its end":      {own: streamjson.Result{APIStatus: 401, APIType: "authentication_error", Text: "Not logged in · Please run /login"}, problem: "authentication_failed", source: "none", end: runner.Limited},
		"a 403 of a login, at its end":      {own: streamjson.Result{APIStatus: 403, APIType: "permission_error", Text: "Failed to authenticate: OAuth token revoked"}, problem: "authentication_failed", source: "none", end: runner.Limited},
		"a 401 of a login on the disk":      {own: streamjson.Result{APIStatus: 401, Text: "x"}, source: "none", env: []string{"ANTHROPIC_API_KEY="}, end: runner.Limited},
		"the prompt does not fit at all":    {own: streamjson.Result{Text: "Prompt is too long"}, problem: "invalid_request", end: runner.Failed},
		"the answer was too long":           {own: streamjson.Result{APICode: "max_output_tokens", Text: "x"}, problem: "max_output_tokens", end: runner.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			c.own.IsError, c.own.Subtype = true, "success"
			v := judge(evidence{own: &c.own, problem: c.problem, source: c.source, turn: runner.Turn{Agent: "coder", Env: c.env}, resetAt: time.Unix(1, 0)})
			if v.End != c.end || v.Unknown != c.unknown {
				t.Errorf("judge = %s, unknown %v (%q); want %s, %v", v.End, v.Unknown, v.Reason, c.end, c.unknown)
			}
			if limit := strings.Contains(name, "by its code"); v.ResetAt.IsZero() == limit {
				t.Errorf("the limit ends at %v", v.ResetAt)
			}
		})
	}
}
