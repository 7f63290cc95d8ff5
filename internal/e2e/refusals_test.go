package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm"
)

// A refusal is an answer from the API, or the lack of one, together with the outcome that
// the test expects.
type refusal struct {
	reply    string // remaining fields of the scripted reply; "" if the request must not reach the API
	env      string // the agent's env, in YAML
	login    bool   // the agent uses a login, not a key
	want     class
	why      string // pattern in the status, or in the list of dead letters
	next     string // part of the next step in the status
	requests int    // maximum number of requests in one turn, unless want is message; 0 if they are not counted
	recorded bool   // the row runs only if full or with UPDATE=1; otherwise the recorded lines are enough
}

// A class names the cause of a refusal.
type class string

const (
	service class = "limited"   // caused by the account or the service: the agent is parked, and no failure is counted
	setUp   class = "bad-setup" // caused by the agent's configuration: the agent is stopped
	message class = "failed"    // caused by the message: it becomes a dead letter after three attempts
)

const noRetry = `CLAUDE_CODE_MAX_RETRIES: "0"`

// refusals contains the rows of a table. Each row is an agent with a separate account.
// ${PLAIN} and ${TLS} are the addresses of the scripted API.
var refusals = map[string]refusal{
	"400":            {reply: `"status":400,"error_message":"messages: something is wrong"`, want: message, why: `400`, requests: 1},
	"401-key":        {reply: `"status":401`, env: noRetry, want: setUp, why: `Invalid API key`, next: "set ANTHROPIC_API_KEY in env: for agent", requests: 1, recorded: true},
	"401-key-again":  {reply: `"status":401`, env: `X: "1"`, want: setUp, why: `refuses the key`, next: "set ANTHROPIC_API_KEY in env: for agent", requests: 3}, // in this row the client may retry ten times, which is its default
	"401-token":      {reply: `"status":401,"match":{"kind":"main","header":{"Authorization":"bearer-401-token"}}`, env: `ANTHROPIC_API_KEY: "", ANTHROPIC_AUTH_TOKEN: bearer-401-token`, want: setUp, why: `refuses the key`, requests: 3, recorded: true},
	"401-login":      {reply: `"status":401`, login: true, want: service, why: `refuses the login|Please run /login`, next: "log in with claude /login", requests: 3},
	"401-expired":    {reply: `"status":401,"error_message":"OAuth token has expired. Please obtain a new token or refresh your existing token."`, env: noRetry, login: true, want: service, why: `login|expired`, requests: 3, recorded: true},
	"402":            {reply: `"status":402`, want: service, why: `402`, next: "buy credit", requests: 1},
	"403":            {reply: `"status":403`, want: service, why: `403`, next: "check the account", requests: 1},
	"403-revoked":    {reply: `"status":403,"error_type":"permission_error","error_message":"OAuth token has been revoked. Please obtain a new token."`, login: true, want: service, why: `revoked|403`, requests: 3, recorded: true},
	"403-org":        {reply: `"status":403,"error_type":"permission_error","error_message":"OAuth authentication is currently not allowed for this organization."`, login: true, want: service, why: `rganization`, next: "use an API key", requests: 3, recorded: true},
	"404":            {reply: `"status":404`, want: setUp, why: `selected model`, next: "set model: for agent", requests: 2},
	"408":            {reply: `"status":408`, env: noRetry, want: service, why: `408`, requests: 1, recorded: true},
	"409":            {reply: `"status":409`, env: noRetry, want: service, why: `409`, requests: 1},
	"413":            {reply: `"status":413`, env: noRetry, want: message, why: `too large`, requests: 1, recorded: true},
	"429-key":        {reply: `"status":429,"headers":{"retry-after":"3600"}`, want: service, why: `Request rejected \(429\)`, next: "nothing has to be done", requests: 1},
	"429-login":      {reply: `"status":429`, env: noRetry, login: true, want: service, why: `.`, requests: 1, recorded: true},
	"500":            {reply: `"status":500`, env: noRetry, want: service, why: `500`, next: "https://status.claude.com", requests: 1},
	"502":            {reply: `"status":502`, env: noRetry, want: service, why: `502`, requests: 1, recorded: true},
	"503":            {reply: `"status":503`, env: noRetry, want: service, why: `503`, requests: 1, recorded: true},
	"504":            {reply: `"status":504`, env: noRetry, want: service, why: `504`, requests: 1, recorded: true},
	"529":            {reply: `"status":529`, env: `CLAUDE_CODE_MAX_RETRIES: "1"`, want: service, why: `529 Overloaded`, requests: 2},
	"no-credit":      {reply: `"status":400,"error_message":"Your credit balance is too low to access the Anthropic API."`, want: service, why: `Credit balance is too low`, next: "buy credit for the API key, or use another login; continues on its own at", requests: 1},
	"org-disabled":   {reply: `"status":400,"error_message":"This organization has been disabled."`, want: setUp, why: `disabled`, requests: 1},
	"too-long":       {reply: `"status":400,"error_message":"prompt is too long: 250000 tokens > 200000 maximum"`, want: message, why: `Prompt is too long`},
	"image":          {reply: `"status":400,"error_message":"messages.0.content.0.image.source.base64: image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes"`, want: message, why: `(?i)image`, requests: 2, recorded: true},
	"images":         {reply: `"status":400,"error_message":"messages.0.content.1.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels"`, want: message, why: `(?i)image`, requests: 2, recorded: true},
	"pdf":            {reply: `"status":400,"error_message":"A maximum of 100 PDF pages may be provided."`, want: message, why: `PDF`, requests: 2, recorded: true},
	"history":        {reply: "\"status\":400,\"error_message\":\"messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1.\"", want: message, why: `400`, recorded: true},
	"html":           {reply: `"raw_body":"<html><body>Please log in to the network</body></html>","headers":{"Content-Type":"text/html"}`, env: noRetry, want: service, why: `.`},
	"error-event":    {reply: `"error_after_events":2,"cut_after_events":3,"text":"x"`, env: noRetry, want: service, why: `.`},
	"stream-cut":     {reply: `"cut_after_events":3,"text":"x"`, env: noRetry, want: service, why: `.`, recorded: true},
	"refused":        {env: `ANTHROPIC_BASE_URL: "http://127.0.0.1:9", ` + noRetry, want: service, why: `Connection ?[Rr]efused`, next: "check the network"},
	"dns":            {env: `ANTHROPIC_BASE_URL: "http://api.invalid", ` + noRetry, want: service, why: `.`},
	"no-route":       {env: `ANTHROPIC_BASE_URL: "http://10.9.8.7:80", ` + noRetry, want: service, why: `.`, recorded: true},
	"reset":          {reply: `"drop":true,"cut_with_reset":true`, env: noRetry, want: service, why: `.`},
	"closed":         {reply: `"drop":true`, env: noRetry, want: service, why: `.`, recorded: true},
	"tls-to-plain":   {env: `ANTHROPIC_BASE_URL: "https://${PLAIN}", ` + noRetry, want: service, why: `.`, recorded: true},
	"tls-untrusted":  {env: `ANTHROPIC_BASE_URL: "https://${TLS}", ` + noRetry, want: service, why: `(?i)self.signed`, next: "continues on its own at"},
	"timeout":        {reply: `"delay_ms":60000`, env: `API_TIMEOUT_MS: "1500", ` + noRetry, want: service, why: `timed out`},
	"no-login":       {env: `ANTHROPIC_API_KEY: ""`, want: setUp, why: `Please run /login`, next: "log in with claude /login"},
	"refusal":        {reply: `"text":"","stop_reason":"refusal"`, env: noRetry, want: message, why: `.`, recorded: true},
	"five-hour":      {reply: limitOf("five_hour", 3*time.Hour), login: true, want: service, why: `hit your (session|5-hour) limit`, next: "continues on its own at", requests: 1, recorded: true},
	"seven-day":      {reply: limitOf("seven_day", 3*24*time.Hour), login: true, want: service, why: `hit your weekly limit`, next: "continues on its own at", requests: 1, recorded: true},
	"seven-day-opus": {reply: limitOf("seven_day_opus", 3*24*time.Hour), login: true, want: service, why: `Opus`, next: "continues on its own at", requests: 1, recorded: true},
	"overage":        {reply: limitOf("overage", 3*time.Hour), login: true, want: service, why: `limit`, next: "continues on its own at", requests: 1, recorded: true},
}

// limitOf returns the reply to a login that has reached a limit. claim is the kind of
// limit, and the limit ends after d.
func limitOf(claim string, d time.Duration) string {
	return fmt.Sprintf(`"status":429,"headers":{"anthropic-ratelimit-unified-status":"rejected","anthropic-ratelimit-unified-reset":"%d","anthropic-ratelimit-unified-representative-claim":%q}`,
		time.Now().Add(d).Unix(), claim)
}

// A refusal by the API is recognized after a limited number of requests, and the report
// says what to do. A failure of the account or the service does not count against any
// message. Work continues after the cause is fixed.
//
// With UPDATE=1 the test runs all rows and records what the client printed, for the tests
// of packages claude and standin.
func TestWhatTheAPIRefuses(t *testing.T) {
	t.Parallel()
	rows := map[string]refusal{}
	for name, r := range refusals {
		if !r.recorded || full || os.Getenv("UPDATE") != "" {
			rows[name] = r
		}
	}
	f := newRefusing(t, rows)
	for name := range rows {
		f.sent[name] = f.send(agentOf(name), "Do it")
	}
	f.within(8*time.Minute, "each agent has met its refusal", f.check)
	if n := f.told("parked: "); n != f.parked {
		t.Errorf("the lead was told %d times of %d limits:\n%s", n, f.parked, f.swarm("inbox"))
	}
	if n := f.told(" is stopped"); n != f.stopped {
		t.Errorf("the lead was told %d times of %d stopped agents:\n%s", n, f.stopped, f.swarm("inbox"))
	}
	if os.Getenv("UPDATE") != "" {
		f.record()
	}
	// From here on, the test does what a person does to fix the cause. One agent for each
	// class of refusal is enough.
	mend, seen := map[string]refusal{}, map[class]bool{}
	for name, r := range rows {
		if full || !seen[r.want] {
			mend[name] = r
		}
		seen[r.want] = true
	}
	f.script(`{"replies":[{"name":"rest","times":-1,"text":"Done."}]}`)
	f.write("claude-swarm.yaml", f.head+mended(rows))
	f.swarm("reload")
	for name, r := range mend {
		switch r.want {
		case service:
			f.swarm("resume", agentOf(name))
		case setUp:
			f.swarm("start", agentOf(name))
		default:
			f.sent[name] = f.send(agentOf(name), "Do another thing")
		}
	}
	for name, r := range mend {
		got := f.receipt(agentOf(name), f.sent[name])
		if r.want != message && (len(got.Attempts) < 2 || got.Attempts[0].Outcome != string(r.want)) {
			t.Errorf("%s: attempts = %+v, want one that ended %s and a good one", name, got.Attempts, r.want)
		}
	}
	if left := f.marked(); len(left) != 0 {
		t.Errorf("processes left: %v", left)
	}
}

// refusing is a project with an agent for each row.
type refusing struct {
	*project
	rows            map[string]refusal
	head            string            // the part of the configuration before the agents
	sent            map[string]string // the message of each row
	seen            map[string]bool   // rows whose refusal has been checked
	parked, stopped int
}

func newRefusing(t *testing.T, rows map[string]refusal) *refusing {
	t.Helper()
	var replies, agents strings.Builder
	for name, r := range rows {
		if r.reply != "" {
			match := fmt.Sprintf(`"match":{"kind":"main","header":{"X-Api-Key":"-key-%s_"}},`, name)
			if r.login {
				match = fmt.Sprintf(`"match":{"kind":"main","header":{"Authorization":"-login-%s_"}},`, name)
			}
			if strings.Contains(r.reply, `"match"`) {
				match = ""
			}
			fmt.Fprintf(&replies, `{"name":%q,"times":-1,%s%s},`, name, match, r.reply)
		}
	}
	p := newProject(t, fmt.Sprintf(`{"replies":[%s{"name":"other","times":-1,"status":418}]}`, replies.String()), "")
	tls := httptest.NewUnstartedServer(p.api)
	tls.Config.ErrorLog = log.New(&bytes.Buffer{}, "", 0) // hides errors from handshakes that are expected to fail
	tls.StartTLS()
	t.Cleanup(tls.Close)
	for name, r := range rows {
		keys := fmt.Sprintf("ANTHROPIC_API_KEY: sk-ant-key-%s_", name)
		if r.login {
			keys = fmt.Sprintf(`ANTHROPIC_API_KEY: "", CLAUDE_CODE_OAUTH_TOKEN: sk-ant-oat01-login-%s_`, name)
		}
		if strings.Contains(r.env, "ANTHROPIC_API_KEY") {
			keys = r.env
		} else if r.env != "" {
			keys += ", " + r.env
		}
		fmt.Fprintf(&agents, "  %s: {env: {%s}}\n", agentOf(name), keys)
	}
	url := strings.TrimPrefix(p.url, "http://")
	env := strings.NewReplacer("${PLAIN}", url, "${TLS}", strings.TrimPrefix(tls.URL, "https://")).Replace(agents.String())
	f := &refusing{project: p, rows: rows, sent: map[string]string{}, seen: map[string]bool{}}
	f.head = strings.Replace(p.read("claude-swarm.yaml"), "max_running: 2", "max_running: 4", 1)
	p.write("claude-swarm.yaml", f.head+env)
	p.start()
	return f
}

func agentOf(row string) string { return "e-" + row }

// mended returns the agents' configuration after a person has fixed it.
func mended(rows map[string]refusal) string {
	var agents strings.Builder
	for name, r := range rows {
		keys := fmt.Sprintf("ANTHROPIC_API_KEY: sk-ant-key-%s_", name)
		if r.login {
			keys = fmt.Sprintf(`ANTHROPIC_API_KEY: "", CLAUDE_CODE_OAUTH_TOKEN: sk-ant-oat01-login-%s_`, name)
		}
		fmt.Fprintf(&agents, "  %s: {env: {%s}}\n", agentOf(name), keys)
	}
	return agents.String()
}

// check checks the agents whose expected refusal has not yet been seen, and reports
// whether every agent's refusal has been seen.
func (f *refusing) check() bool {
	f.t.Helper()
	answered := f.api.Stats().Answered
	for _, a := range f.status().Agents {
		name := strings.TrimPrefix(a.Name, "e-")
		r := f.rows[name]
		if f.seen[name] {
			continue
		}
		switch {
		case a.State == swarm.Limited && r.want == service:
			f.parked++
		case a.State == swarm.Stopped && r.want == setUp:
			f.stopped++
		case a.Dead == 1 && r.want == message:
			if why := f.swarm("dead", "list", a.Name); !regexp.MustCompile(r.why).MatchString(why) {
				f.t.Errorf("%s: given up: %s, want %s", name, why, r.why)
			}
			f.seen[name] = true
			continue
		case a.Dead > 0 || a.State == swarm.Limited || a.State == swarm.Stopped:
			f.t.Errorf("%s: the agent is %s with %d dead letters, want it %s: %s", name, a.State, a.Dead, r.want, a.Why)
			f.seen[name] = true
			continue
		default:
			continue
		}
		f.seen[name] = true
		if !regexp.MustCompile(r.why).MatchString(a.Why) || !strings.Contains(a.Next, r.next) || strings.Count(a.Next, "claude-swarm start") > 1 {
			f.t.Errorf("%s: why %q, next %q; want …%s…, …%s…", name, a.Why, a.Next, r.why, r.next)
		}
		if n := answered[name]; r.requests > 0 && (n == 0 || n > r.requests) {
			f.t.Errorf("%s: the API was asked %d times, want %d at most", name, n, r.requests)
		}
		if got := f.waiting(a.Name); len(got) != 1 || got[0] != f.sent[name]+"~1.0.md" {
			f.t.Errorf("%s: new/ = %v, want the message with no failure counted", name, got)
		}
		if r.want == service {
			f.swarm("pause", a.Name) // another attempt by this agent would only delay the other agents
		}
	}
	return len(f.seen) == len(f.rows)
}

// record writes the output of the clients' first turns to testdata, one file per row. It
// shortens the init line and drops the lines that are unrelated to errors.
func (f *refusing) record() {
	f.t.Helper()
	said, err := exec.CommandContext(f.t.Context(), cli, "--version").Output()
	version, _, ok := strings.Cut(string(said), " ")
	if err != nil || !ok {
		f.t.Fatalf("%s --version: %q, %v", cli, said, err)
	}
	for name := range f.rows {
		data, err := os.ReadFile(filepath.Join(f.dir, ".claude-swarm", "turns", f.sent[name]+"-1.jsonl"))
		if err != nil {
			f.t.Fatal(err)
		}
		var kept bytes.Buffer
		for line := range bytes.Lines(data) {
			var event map[string]any
			if err := json.Unmarshal(line, &event); err != nil {
				f.t.Fatalf("%s: %v", name, err)
			}
			if event["subtype"] == "init" {
				line, _ = json.Marshal(map[string]any{"type": "system", "subtype": "init", "session_id": event["session_id"], "uuid": event["uuid"],
					"apiKeySource": event["apiKeySource"], "model": event["model"], "claude_code_version": event["claude_code_version"]})
				line = append(line, '\n')
			}
			if kind := event["type"]; kind != "control_response" && kind != "user" && kind != "command_lifecycle" {
				kept.Write(line)
			}
		}
		path := filepath.Join("..", "..", "testdata", "errors", version, name+".jsonl")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			f.t.Fatal(err)
		}
		if err := os.WriteFile(path, kept.Bytes(), 0o644); err != nil {
			f.t.Fatal(err)
		}
	}
}
