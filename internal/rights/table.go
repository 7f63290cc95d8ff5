package rights

// An Entry is a line of the table.
type Entry struct {
	Right Right
	Doing string // completes "only the lead may …"; "" if agents have the right in their turns
}

// requests are the requests on the control socket; see docs/dev/protocol.md.
var requests = map[string]Entry{
	"status": {}, "subscribe": {}, "whispers": {}, "whoami": {},
	"abort": {Right: Known}, "interrupt": {Right: Known}, "compact": {Right: Known}, "clear": {Right: Known},
	"start":    {OutsideTurn, "start an agent"},
	"stop":     {OutsideTurn, "stop an agent"},
	"pause":    {OutsideTurn, "pause another agent"}, // a turn pauses its own agent to wait for an answer
	"resume":   {OutsideTurn, "let an agent continue"},
	"drain":    {OutsideTurn, "keep an agent from new tasks"},
	"undrain":  {OutsideTurn, "let an agent begin tasks"},
	"reload":   {OutsideTurn, "put a changed configuration into force"},
	"shutdown": {OutsideTurn, "stop the daemon"},
	"raise":    {Person, "raise a budget"},
}

// verbs are the verbs of the command line. The verbs that contain others only print help.
var verbs = map[string]Entry{
	"status": {}, "history": {}, "topics": {}, "version": {}, "doctor": {}, "compat": {}, "config": {}, "config check": {},
	"demo": {}, "completion": {}, "__complete": {}, "__verbs": {}, "budget": {}, "dead": {}, "refused": {},
	"irc": {}, "irc doctor": {}, "irc channels": {}, "irc who": {}, "webhooks": {}, "webhooks list": {},
	"merge list": {Right: Known}, "merge show": {Right: Known},
	"hook": {}, "hook echo": {},
	"hook start": {Right: Known}, "hook prompt": {Right: Known}, "hook stop": {Right: Known}, "hook end": {Right: Known},
	"hook task":    {Right: Known},
	"hook compact": {Right: Known}, "hook inbox": {Right: Known},

	"send": {Right: Known}, "inbox": {Right: Known}, "read": {Right: Known}, "reply": {Right: Known}, "cancel": {Right: Known},
	"trace": {Right: Known}, "diff": {Right: Known}, "tasks": {Right: Known}, "logs": {Right: Known}, "events": {Right: Known}, "publish": {Right: Known}, "tasks add": {Right: Known},
	"subscribe": {Right: Known}, "unsubscribe": {Right: Known}, "claim": {Right: Known}, "ack": {Right: Known},
	"abort": {Right: Known}, "compact": {Right: Known}, "clear": {Right: Known}, "halt": {Right: Known},
	"dead list": {Right: Known}, "dead show": {Right: Known}, "refused list": {Right: Known}, "mcp": {Right: Known},
	"irc send": {Right: Known}, "irc read": {Right: Known}, "irc ask": {Right: Known},
	"irc join": {Right: Known}, "irc part": {Right: Known}, "irc topic": {Right: Known},

	"start":         {OutsideTurn, "start an agent or the daemon"},
	"stop":          {OutsideTurn, "stop an agent or the daemon"},
	"restart":       {OutsideTurn, "restart the daemon"},
	"reload":        {OutsideTurn, "put a changed configuration into force"},
	"pause":         {OutsideTurn, "pause another agent"}, // a turn may pause its own agent
	"resume":        {OutsideTurn, "let an agent continue"},
	"drain":         {OutsideTurn, "keep an agent from new tasks"},
	"undrain":       {OutsideTurn, "let an agent begin tasks"},
	"attach":        {OutsideTurn, "attach a session"},
	"verify":        {OutsideTurn, "run a verifier"},
	"init":          {OutsideTurn, "set up a project"}, // init --check changes nothing, so everybody may use it
	"irc run":       {OutsideTurn, "run the bridge"},
	"budget raise":  {Person, "raise a budget"},
	"merge":         {Person, "merge a branch"},
	"unhalt":        {Person, "let the agents work again"},
	"remove":        {Person, "remove an agent"},
	"dead retry":    {Person, "retry a dead letter"},
	"dead purge":    {Person, "remove a dead letter"},
	"refused retry": {Person, "let a message through"},
	"webhooks test": {Person, "test a webhook"},
}
