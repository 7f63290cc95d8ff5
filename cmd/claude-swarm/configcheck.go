package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
	"gopkg.in/yaml.v3"

	"github.com/claude-swarm/claude-swarm/internal/config"
)

func configCommand() *cli.Command {
	return &cli.Command{
		Name:     "config",
		Category: groupProject,
		Usage:    "look at the configuration",
		Description: `Looks at claude-swarm.yaml.` +
			examples("claude-swarm config check"),
		Subcommands: []*cli.Command{{
			Name:  "check",
			Usage: "say what is in force, or what is wrong",
			Description: `Prints the whole configuration as it is in force, every key with its value, as
YAML that could stand in the file. What is wrong is printed with file, line and
column, and the exit status is 78.` +
				examples("claude-swarm config check", "claude-swarm config check --json"),
			Flags:  []cli.Flag{jsonFlag()},
			Action: configCheck,
		}},
	}
}

func configCheck(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	p, err := loadProject(c)
	if err != nil {
		return err
	}
	if err := p.file.CheckFolders(); err != nil {
		return badConfig(err)
	}
	all := effective(p.file)
	if c.Bool("json") {
		return printJSON(c.App.Writer, append(keyed{{"v", 1}, {"path", p.file.Path}}, all...))
	}
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := errors.Join(enc.Encode(all), enc.Close()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.App.Writer, "# in force: %s\n%s", p.file.Path, out.Bytes())
	return err
}

func isConfigError(err error) bool {
	_, ok := errors.AsType[config.Errors](err)
	return ok
}

// effective is a configuration with all its keys, in the order of the
// documentation.
func effective(f *config.File) keyed {
	agents := keyed{}
	for _, a := range f.Agents {
		agents = append(agents, entry{a.Name, effectiveAgent(a)})
	}
	return keyed{
		{"dead_drop_dir", f.DeadDropDir},
		{"project_dir", f.ProjectDir},
		{"debounce", yamlSpan(f.Debounce)},
		{"max_running", f.Running()},
		{"max_warm", f.MaxWarm},
		{"max_waiting", f.MaxWaiting},
		{"lead", orNullText(f.Lead)},
		{"lead_name", orNullText(f.LeadName)},
		{"agents", agents},
		{"policy", effectivePolicy(f.Policy)},
		{"irc", effectiveIRC(f.IRC)},
		{"log", keyed{{"max_size_mb", f.Log.MaxSizeMB}, {"max_backups", f.Log.MaxBackups}, {"max_age_days", f.Log.MaxAgeDays}}},
		{"topics", keyed{{"claim_timeout", yamlSpan(f.Topics.ClaimTimeout)}, {"fallback", orNullText(f.Topics.Fallback)}}},
		{"audit", keyed{{"git", f.Audit.Git}}},
		{"retention", keyed{
			{"done_days", f.Retention.DoneDays}, {"done_mb", f.Retention.DoneMB},
			{"refused_days", f.Retention.RefusedDays}, {"refused_mb", f.Retention.RefusedMB},
		}},
	}
}

func effectivePolicy(p config.Policy) keyed {
	acl := keyed{}
	for _, name := range slices.Sorted(maps.Keys(p.ACL)) {
		a, one := p.ACL[name], keyed{}
		for _, list := range []struct {
			name  string
			words *[]string
		}{{"publish", a.Publish}, {"subscribe", a.Subscribe}, {"direct", a.Direct}} {
			if list.words != nil {
				one = append(one, entry{list.name, orEmpty(*list.words)})
			}
		}
		acl = append(acl, entry{name, append(one, entry{"broadcast", a.Broadcast})})
	}
	return keyed{
		{"allowed_types", orEmpty(p.AllowedTypes)},
		{"max_body_bytes", p.MaxBodyBytes},
		{"sender_per_min", p.SenderPerMin},
		{"thread_per_min", p.ThreadPerMin},
		{"max_hops", p.MaxHops},
		{"max_returns", p.MaxReturns},
		{"max_echoes", p.MaxEchoes},
		{"turns_per_hour", p.TurnsPerHour},
		{"stop_sentinel", p.StopSentinel},
		{"unproven", p.Unproven},
		{"acl", acl},
	}
}

func effectiveAgent(a config.Agent) keyed {
	servers := keyed{}
	for _, name := range slices.Sorted(maps.Keys(a.MCPServers)) {
		servers = append(servers, entry{name, effectiveServer(a.MCPServers[name])})
	}
	return keyed{
		{"role", a.Role},
		{"zone", a.Zone},
		{"system", a.System},
		{"backend", a.Backend},
		{"command", a.Command},
		{"permission_mode", a.PermissionMode},
		{"window_tokens", a.WindowTokens},
		{"compact_window", a.CompactWindow},
		{"stall_timeout", yamlSpan(a.StallTimeout)},
		{"turn_timeout", yamlSpan(a.TurnTimeout)},
		{"retry_delay", yamlSpan(a.RetryDelay)},
		{"max_failures", a.MaxFailures},
		{"session", string(a.Session)},
		{"linger", yamlSpan(a.Linger)},
		{"attached", a.Attached},
		{"attached_mail", a.AttachedMail},
		{"background", a.Background},
		{"allowed_tools", orNull(a.AllowedTools)},
		{"disallowed_tools", orNull(a.DisallowedTools)},
		{"cc_lead", a.CCLead},
		{"mcp", a.MCP},
		{"mcp_servers", servers},
		{"allowed_dirs", orEmpty(a.AllowedDirs)},
		{"model", orNullText(a.Model)},
		{"thinking", orNullText(a.Thinking)},
		{"cwd", a.Cwd},
		{"channels", orEmpty(a.Channels)},
		{"reread", orEmpty(a.Reread)},
		{"env", pairs(a.Env)},
		{"env_drop", orEmpty(a.EnvDrop)},
	}
}

func effectiveServer(s config.MCPServer) keyed {
	if s.URL != "" {
		return keyed{{"type", s.Type}, {"url", s.URL}, {"headers", pairs(s.Headers)}}
	}
	return keyed{{"type", s.Type}, {"command", s.Command}, {"args", orEmpty(s.Args)}, {"env", pairs(s.Env)}}
}

// pairs are names with values, in their order.
func pairs(of map[string]string) keyed {
	list := keyed{}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		list = append(list, entry{name, of[name]})
	}
	return list
}

// yamlSpan writes a span as a person does: 10m, not 10m0s.
func yamlSpan(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func orNull(list *[]string) any {
	if list == nil {
		return nil
	}
	return orEmpty(*list)
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

func orNullText(s string) any {
	if s == "" {
		return nil
	}
	return s
}
