package config

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/permission"
	"github.com/claude-swarm/claude-swarm/swarm/budget"
	"github.com/claude-swarm/claude-swarm/swarm/runner/backends"
	"github.com/claude-swarm/claude-swarm/swarm/verify"
)

// Grown lists the rights and limits of agents that a new configuration extends beyond an old
// one, one line each, such as "coder.budget.day 5 → 500" or "coder.allowed_tools + Bash".
// It does not list values of variables, because they may be secrets.
func Grown(old, new *File) []string {
	var g growth
	if old.Lead != new.Lead && new.Lead != "" {
		g.changed("lead", old.Lead, new.Lead)
	}
	for _, p := range new.IRC.Allow {
		if !slices.ContainsFunc(old.IRC.Allow, func(o IRCPermit) bool { return reflect.DeepEqual(o, p) }) {
			g.add("irc.allow + %s: %s", cmp.Or(p.Account, p.Mask, p.Nick), strings.Join(p.May, ", "))
		}
	}
	g.cap("budget.swarm.day", old.Budget.Swarm.Day, new.Budget.Swarm.Day)
	g.cap("budget.task", old.Budget.Task, new.Budget.Task)
	if old.Budget.Billing != new.Budget.Billing {
		g.changed("budget.billing", string(old.Budget.Billing), string(new.Budget.Billing))
	}
	g.policy(&old.Policy, &new.Policy)
	g.verifiers(&old.Verification, &new.Verification)
	for _, a := range new.Agents {
		if o, ok := old.Agent(a.Name); ok {
			g.agent(&o, &a)
		} else {
			g.add("%s: a new agent", a.Name)
		}
	}
	return g.lines
}

// growth collects the lines of [Grown].
type growth struct{ lines []string }

func (g *growth) add(format string, args ...any) {
	g.lines = append(g.lines, fmt.Sprintf(format, args...))
}

// changed adds a key whose values have no order.
func (g *growth) changed(key, old, new string) {
	g.add("%s %s → %s", key, cmp.Or(old, "none"), cmp.Or(new, "none"))
}

func (g *growth) policy(old, new *Policy) {
	for _, l := range []struct {
		key      string
		old, new int
	}{
		{"max_body_bytes", old.MaxBodyBytes, new.MaxBodyBytes}, {"sender_per_min", old.SenderPerMin, new.SenderPerMin}, {"thread_per_min", old.ThreadPerMin, new.ThreadPerMin},
		{"max_hops", old.MaxHops, new.MaxHops}, {"max_returns", old.MaxReturns, new.MaxReturns}, {"max_echoes", old.MaxEchoes, new.MaxEchoes}, {"turns_per_hour", old.TurnsPerHour, new.TurnsPerHour},
	} {
		limit(g, "policy."+l.key, l.old, l.new, strconv.Itoa)
	}
	g.more("policy.allowed_types", &old.AllowedTypes, &new.AllowedTypes)
	g.more("policy.editable", &old.Editable, &new.Editable)
	if old.StopSentinel != new.StopSentinel {
		g.changed("policy.stop_sentinel", strconv.Quote(old.StopSentinel), strconv.Quote(new.StopSentinel))
	}
	if old.Unproven != new.Unproven && new.Unproven == UnprovenAllow {
		g.changed("policy.unproven", old.Unproven, new.Unproven)
	}
	all := Access{Broadcast: true}
	for _, name := range slices.Sorted(maps.Keys(old.ACL)) {
		o := old.ACL[name]
		n, ok := new.ACL[name]
		if !ok {
			n = all
		}
		key := "policy.acl." + name
		g.more(key+".publish", o.Publish, n.Publish)
		g.more(key+".subscribe", o.Subscribe, n.Subscribe)
		g.more(key+".direct", o.Direct, n.Direct)
		if n.Broadcast && !o.Broadcast {
			g.changed(key+".broadcast", "false", "true")
		}
	}
}

// verifiers lists the commands that a verifier runs, and protected files that no longer are.
func (g *growth) verifiers(old, new *Verification) {
	for _, name := range slices.Sorted(maps.Keys(new.Verifiers)) {
		line := func(s verify.Settings) string { return strings.Join(append(slices.Clone(s.RunIn), s.Run), " ") }
		o, known := old.Verifiers[name]
		if n := line(new.Verifiers[name]); !known || line(o) != n {
			g.changed("verifiers."+name, line(o), n)
		}
	}
	g.fewer("protect", old.Protect, new.Protect)
}

func (g *growth) agent(old, new *Agent) {
	key := func(k string) string { return new.Name + "." + k }
	g.cap(key("budget.day"), old.Budget.Day, new.Budget.Day)
	limit(g, key("budget.turn"), old.Budget.Turn, new.Budget.Turn, number)
	limit(g, key("turn_timeout"), old.Client.Timeout, new.Client.Timeout, time.Duration.String)
	g.more(key("allowed_tools"), old.ToolList(), new.ToolList())
	if new.AllTools() && old.Client.AllowedTools == nil {
		g.changed(key("allowed_tools"), "null", everyTool)
	}
	g.fewer(key("disallowed_tools"), deref(old.Client.DisallowedTools), deref(new.Client.DisallowedTools))
	g.more(key("allowed_dirs"), &old.AllowedDirs, &new.AllowedDirs)
	g.more(key("permissions.allow"), &old.Permissions.Allow, &new.Permissions.Allow)
	g.fewer(key("permissions.ask"), old.Permissions.Ask, new.Permissions.Ask)
	g.fewer(key("permissions.deny"), old.Permissions.Deny, new.Permissions.Deny)
	g.fewer(key("env_drop"), old.EnvDrop, new.EnvDrop)
	if new.Client.Background && !old.Client.Background {
		g.changed(key("background"), "false", "true")
	}
	if k := backends.Kind(new.Backend); old.Client.PermissionMode != new.Client.PermissionMode && (k == nil || new.Client.PermissionMode != k.Look && old.Client.PermissionMode != k.Bypass) {
		g.changed(key("permission_mode"), old.Client.PermissionMode, new.Client.PermissionMode)
	}
	if o, n := old.Permissions.Otherwise, new.Permissions.Otherwise; o != n && o != string(permission.Allow) && n != string(permission.Deny) {
		g.changed(key("permissions.otherwise"), o, n)
	}
	for _, c := range []struct{ key, old, new string }{
		{"backend", old.Backend, new.Backend},
		{"command", strings.Join(old.Client.Command, " "), strings.Join(new.Client.Command, " ")},
		{"cwd", old.Client.Dir, new.Client.Dir},
	} {
		if c.old != c.new {
			g.changed(key(c.key), c.old, c.new)
		}
	}
	added(g, key("env"), old.Env, new.Env)
	added(g, key("mcp_servers"), old.Client.Servers, new.Client.Servers)
	added(g, key("backend_options"), old.Client.Options, new.Client.Options)
}

// cap compares two caps, unit by unit.
func (g *growth) cap(key string, old, new budget.Cap) {
	limit(g, key, old.USD, new.USD, number)
	limit(g, key+".turns", old.Turns, new.Turns, strconv.Itoa)
	limit(g, key+".time", old.Time, new.Time, time.Duration.String)
}

// limit compares two limits. 0 means no limit.
func limit[N int | float64 | time.Duration](g *growth, key string, old, new N, text func(N) string) {
	if old == 0 || new != 0 && new <= old {
		return
	}
	to := "no limit"
	if new != 0 {
		to = text(new)
	}
	g.add("%s %s → %s", key, text(old), to)
}

func number(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// more compares two lists of what is allowed. nil allows everything.
func (g *growth) more(key string, old, new *[]string) {
	switch {
	case old == nil:
	case new == nil:
		g.add("%s %s → all", key, cmp.Or(strings.Join(*old, ", "), "none"))
	default:
		if more := without(*new, *old); len(more) > 0 {
			g.add("%s + %s", key, strings.Join(more, ", "))
		}
	}
}

// fewer compares two lists of what is denied.
func (g *growth) fewer(key string, old, new []string) {
	if gone := without(old, new); len(gone) > 0 {
		g.add("%s - %s", key, strings.Join(gone, ", "))
	}
}

// added adds the names that are new, or whose values changed.
func added[V any](g *growth, key string, old, new map[string]V) {
	var names []string
	for name, value := range new {
		if o, ok := old[name]; !ok || !reflect.DeepEqual(o, value) {
			names = append(names, name)
		}
	}
	if slices.Sort(names); len(names) > 0 {
		g.add("%s + %s", key, strings.Join(names, ", "))
	}
}

// without returns the strings in all that are not in some.
func without(all, some []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return slices.Contains(some, s) })
}

func deref(list *[]string) []string {
	if list == nil {
		return nil
	}
	return *list
}
