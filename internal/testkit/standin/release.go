package standin

import (
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// A release is the version of the real program that a process imitates.
type release string

const (
	current release = "2.1.330"
	earlier release = "2.1.197" // STANDIN_VERSION=2.1.197
)

// Version is the text that --version prints, unless STANDIN_VERSION selects the older
// version.
const Version = string(current) + suffix

const suffix = " (claude-swarm stand-in)"

// releaseOf returns the release that STANDIN_VERSION selects.
func releaseOf(version string) (release, error) {
	switch r := release(version); r {
	case "":
		return current, nil
	case current, earlier:
		return r, nil
	}
	return "", complain("standin: STANDIN_VERSION is %q, and only %s and %s are played", version, earlier, current)
}

func (r release) old() bool { return r == earlier }

// newFlags contains the flags that exist only in the newer version.
var newFlags = map[string]arity{
	"--autocompact": one, "--forward-subagent-text": none, "--permission-prompts": one, "--restricted": none,
	snapshotFlag: one,
}

// snapshotFlag is the flag that decides whether a resumed session keeps the system prompt
// of its first turn.
const snapshotFlag = "--system-prompt-snapshot"

// flag looks up a command-line flag.
func (r release) flag(name string) (takes arity, known bool) {
	if takes, known = flags[name]; !known && !r.old() {
		takes, known = newFlags[name]
	}
	return takes, known
}

// help prints the usage text, with each flag on a separate line.
func (r release) help(w io.Writer) {
	all := maps.Clone(flags)
	if !r.old() {
		maps.Copy(all, newFlags)
	}
	var b strings.Builder
	b.WriteString("Usage: claude [options] [command] [prompt]\n\nA stand-in for Claude Code " + string(r) + ": its prompt says what a turn does.\n\nOptions:\n")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		b.WriteString("  " + name + all[name].usage() + "\n")
	}
	io.WriteString(w, b.String())
}

// usage returns the part of the usage text that shows a flag's values.
func (a arity) usage() string { return [...]string{"", " <value>", " [value]", " <values...>"}[a] }

// resultMore contains the keys of a result that exist only in the newer version.
type resultMore struct {
	NotFast   string                 `json:"fast_mode_disabled_reason,omitempty"`
	Agents    *subagentStats         `json:"subagent_stats,omitempty"`
	Stops     int                    `json:"safety_stops"`
	APIType   string                 `json:"api_error_type,omitempty"`
	APICode   string                 `json:"api_error,omitempty"`
	Command   string                 `json:"local_command,omitempty"`
	ContentMS *int64                 `json:"first_content_frame_ms,omitempty"`
	Queued    int                    `json:"queued_turn_count"`
	Index     int                    `json:"result_index"`
	Since     map[string]*modelUsage `json:"model_usage_since_last_result"`
}

// subagentStats is the part of a result about sub-agents. It is always empty.
type subagentStats struct {
	Spawned    int            `json:"spawned"`
	Requested  map[string]int `json:"requested"`
	Background int            `json:"started_in_background"`
	Depth      int            `json:"max_depth"`
	Nested     int            `json:"spawned_by_subagents"`
	Completed  int            `json:"completed"`
	Failed     int            `json:"failed"`
	Killed     map[string]int `json:"killed"`
	Refused    map[string]int `json:"refused"`
	ByType     map[string]int `json:"by_type"`
}

func noSubagents() *subagentStats {
	return &subagentStats{
		Requested: map[string]int{"background": 0, "foreground": 0, "unset": 0},
		Killed:    map[string]int{"parent": 0, "user": 0, "system": 0},
		Refused:   map[string]int{"depth_limit": 0, "concurrency_limit": 0, "budget": 0},
		ByType:    map[string]int{},
	}
}

// wire returns the result in the form in which it is printed. In the newer version, type
// is not the first key.
func (r *resultLine) wire() any {
	if r.resultMore == nil {
		return r
	}
	return struct {
		APIMS int64 `json:"duration_api_ms"`
		*resultLine
	}{r.APIMS, r}
}

// notFast is the reason why fast mode is off.
const notFast = "sdk_opt_in_required"

// initMore contains the keys of an init line that exist only in the newer version.
type initMore struct {
	Terminal     []string `json:"terminal_slash_commands"`
	Capabilities []string `json:"capabilities"`
	FirstParty   bool     `json:"served_by_anthropic"`
	Original     string   `json:"original_cwd"`
	Additional   []string `json:"additional_directories"`
	NotFast      string   `json:"fast_mode_disabled_reason"`
	Effort       bool     `json:"per_turn_effort_active"`
	Ultrathink   bool     `json:"ultrathink_available"`
	Typed        bool     `json:"ultrathink_typed_raises"`
	View         string   `json:"view_mode"`
}

// modelMore contains the keys of a model's usage that exist only in the newer version.
type modelMore struct {
	Thinking  int    `json:"thinkingTokens"`
	Minutes   int    `json:"cacheCreationEphemeral5mInputTokens"`
	Hour      int    `json:"cacheCreationEphemeral1hInputTokens"`
	Canonical string `json:"canonicalModel"`
	Provider  string `json:"provider"`
	Basis     string `json:"costBasis"`
}

// usageMore contains the keys of a result's usage that exist only in the newer version.
type usageMore struct {
	Details map[string]int `json:"output_tokens_details"`
	Credit  any            `json:"fallback_credit"`
}

// syntheticMessageMore contains the keys of a synthetic assistant message that exist only
// in the newer version.
type syntheticMessageMore struct {
	Diagnostics *int `json:"diagnostics"`
}

// syntheticMore contains the keys of such a message's usage that exist only in the newer
// version.
type syntheticMore struct {
	Details *int `json:"output_tokens_details"`
	Credit  *int `json:"fallback_credit"`
}

// apiErrorMore contains the keys of the assistant line about an API error that exist only
// in the newer version.
type apiErrorMore struct {
	IsError bool            `json:"is_api_error_message"`
	Status  int             `json:"api_error_status,omitempty"`
	Type    string          `json:"api_error_type,omitempty"`
	Code    string          `json:"api_error,omitempty"`
	Params  *apiErrorParams `json:"api_error_params,omitempty"`
}

type apiErrorParams struct {
	Limit *rateLimit `json:"rate_limit_info"`
}

// rateLimit describes a usage limit.
type rateLimit struct {
	Status   string `json:"status"`
	ResetsAt int64  `json:"resetsAt"` // seconds since 1970
	Type     string `json:"rateLimitType"`
	Overage  bool   `json:"isUsingOverage"`
}

// lifecycleLine is the state of a prompt.
type lifecycleLine struct {
	Type      string `json:"type"`
	Command   string `json:"command_uuid"`
	State     string `json:"state"` // queued, started, completed, cancelled
	UUID      string `json:"uuid"`
	SessionID string `json:"session_id"`
}

// lifecycle prints the state of those prompts that were sent with a uuid.
func (c *client) lifecycle(state string, prompts ...prompt) {
	if c.release.old() || c.getenv("STANDIN_NOREPLAY") != "" {
		return
	}
	for _, p := range prompts {
		if p.named {
			c.out.line(&lifecycleLine{"command_lifecycle", p.uuid, state, newUUID(), *c.id.Load()})
		}
	}
}

// more returns the keys of a result that exist only in the newer version, or nil in the
// older version. It resets the usage since the last result to 0.
func (c *client) more() *resultMore {
	if c.release.old() {
		return nil
	}
	m := &resultMore{NotFast: notFast, Agents: noSubagents(), Index: c.results, Since: c.since}
	c.results++
	c.since = map[string]*modelUsage{}
	return m
}

func (c *client) usageMore() *usageMore {
	if c.release.old() {
		return nil
	}
	return &usageMore{Details: map[string]int{"thinking_tokens": 0}}
}

func (c *client) syntheticUsage() (u syntheticUsage) {
	if !c.release.old() {
		u.syntheticMore = new(syntheticMore)
	}
	return u
}

func (c *client) messageMore() *syntheticMessageMore {
	if c.release.old() {
		return nil
	}
	return new(syntheticMessageMore)
}

// ifNew returns text in the newer version, and "" in the older one.
func (c *client) ifNew(text string) string {
	if c.release.old() {
		return ""
	}
	return text
}

// stamp returns the timestamp that the newer version adds to lines of type assistant.
func (c *client) stamp() string { return c.ifNew(timestamp()) }

// takeUp continues with the usage from the earlier processes of a resumed session. The
// older version starts at 0.
func (c *client) takeUp() {
	was := c.sess.totals
	if c.release.old() || was.Models == nil {
		return
	}
	c.cost, c.apiTime, c.models = was.CostUSD, time.Duration(was.APIMS)*time.Millisecond, was.Models
	for model, m := range c.models {
		m.modelMore = c.newUsage(model).modelMore
	}
}

// total returns the session's usage, to be stored in its file.
func (c *client) total(apiMS int64) *totals {
	all := &totals{CostUSD: c.cost, APIMS: apiMS, Models: map[string]*modelUsage{}}
	for model, m := range c.models {
		plain := *m
		plain.modelMore = nil // not stored, because it is derived from the model's name
		all.Models[model] = &plain
	}
	return all
}

// keepSystem records the system prompt of the session's first turn.
func (c *client) keepSystem() error {
	if c.release.old() || c.sess.system != nil {
		return nil
	}
	return c.sess.add(record{Type: "system", System: &c.o.system})
}

// system returns the system prompt to send to the model. In the newer version, this
// remains the prompt from the session's first turn until a compaction, unless an option
// selects the current prompt.
func (c *client) system() string {
	if c.sess.system == nil || c.release.old() || c.noSnapshot.Load() {
		return c.o.system
	}
	return *c.sess.system
}

// deniedLine reports that a tool call was not allowed.
type deniedLine struct {
	Type      string `json:"type"`
	Subtype   string `json:"subtype"`
	Tool      string `json:"tool_name"`
	ToolUseID string `json:"tool_use_id"`
	Reason    string `json:"decision_reason_type"`
	Message   string `json:"message"`
	UUID      string `json:"uuid"`
	SessionID string `json:"session_id"`
}

// resetLine reports that the conversation was reset.
type resetLine struct {
	Type      string `json:"type"`
	ID        string `json:"new_conversation_id"`
	Trigger   string `json:"trigger"`
	Prompt    string `json:"user_message_uuid"`
	Timestamp string `json:"timestamp"`
	UUID      string `json:"uuid"`
	SessionID string `json:"session_id"`
}

// toolMeta contains the data about a tool call that the newer version reports in addition
// to the tool's answer.
type toolMeta struct {
	ID       string          `json:"id"`
	Kind     string          `json:"non_execution_kind,omitempty"`
	Decision *toolPermission `json:"permission_decision,omitempty"`
}

type toolPermission struct {
	Decision string `json:"decision"` // accept, reject
	Source   string `json:"source"`
	Reason   string `json:"reason_type"`
}
