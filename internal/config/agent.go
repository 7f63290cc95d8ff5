package config

import (
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/budget"
)

// An Agent is one agent with a value for every key. The value is taken from the agent's
// own entry, then from defaults, then from the built-in values.
//
// Most keys are fields of the types that use them: [swarm.AgentSettings], turn.Settings for
// what a turn needs, [runner.Spec] for what the client gets. In AgentSettings, AllowedTools
// may contain the word all, see ToolList and AllTools; Channels may contain {slug}; and the
// program of Command, if it contains a slash, is an absolute path.
type Agent struct {
	Name string // also its mailbox and its address
	swarm.AgentSettings
	Permissions Permissions `key:"permissions" default:"{allow: [], ask: [], deny: [], otherwise: null, timeout: 10m}" doc:"What a client that asks before it uses a tool may do: {allow: [fetch, \"execute go test*\"], ask: [\"execute git push*\"], deny: [\"execute rm -rf*\"], otherwise: deny, timeout: 10m}. ask is a question to the lead; without an answer within timeout it means deny. otherwise is for calls that no entry names; null allows edits in the agent's folder and denies the rest. An agent's lists are added to those of defaults. See docs/permissions.md."`
	// AttachedMail determines what the Stop hook of an attached session does with mail.
	AttachedMail string `key:"attached_mail" type:"continue | notify" default:"continue" doc:"What an attached session does with mail at the end of a turn. continue: it automatically continues with the next message, at most 8 in a row. notify: it only tells the person that there is mail, and the person fetches it with /inbox."`
	CCLead       bool   `key:"cc_lead" doc:"Send the lead a copy, as a note, of every message that the agent sends to other agents and of every answer that it gives them. Publications and dropped files are not copied."`
	// AllowedDirs contains absolute paths.
	AllowedDirs []string         `key:"allowed_dirs" is:"path" doc:"Folders that the agent may make its working folder with the tool set_directory, besides cwd, project_dir and the folders in them. Relative to this file."`
	Budget      budget.AgentCaps `key:"budget" like:"{day: 8, turn: 2}" default:"{day: null, turn: null}" doc:"The maximum that this agent may spend, in place of budget.agent: {day: 8, turn: 2}. null removes a cap."`
	Hours       Hours            `key:"hours" like:"{work: \"mon-fri 08:00-20:00\"}" default:"{zone: null, work: null}" doc:"The hours in which this agent begins turns, overriding the top-level hours, key by key: {zone: Asia/Tokyo, work: \"mon-fri 09:00-18:00\"}. work: always lets it work at all times."`
}

// agentKeys are the keys of an agent in the order in which they are shown. The fields of the
// types above are in another order.
var agentKeys = strings.Fields(`
	role zone system tags backend command backend_options permissions permission_mode
	window_tokens compact_window stall_timeout turn_timeout retry_delay max_failures session
	attached attached_mail linger background allowed_tools disallowed_tools cc_lead mcp
	mcp_servers allowed_dirs model thinking cwd
	worktree worktree_copy worktree_link verify channels reread env budget env_drop hours
	heartbeat heartbeat_prompt
`)

// agentPlace returns the place of a key in agentKeys. A key that is missing there comes last.
func agentPlace(key string) int {
	if i := slices.Index(agentKeys, key); i >= 0 {
		return i
	}
	return len(agentKeys)
}
