package config_test

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/internal/config"
)

// document returns an otherwise empty configuration with one key of the reference.
func document(key config.Key, value string) string {
	section, name, nested := strings.Cut(key.Path, ".")
	switch {
	case section == "agents":
		name = strings.TrimPrefix(name, "NAME.")
		return "agents: {a: {" + name + ": " + value + "}}\n"
	case nested:
		value = "{" + strings.ReplaceAll(name, ".", ": {") + ": " + value + strings.Repeat("}", strings.Count(key.Path, "."))
	}
	return section + ": " + value + "\nagents: {a: }\n"
}

// parse reads text as a configuration file, always with the same path.
func parse(t *testing.T, text string) config.File {
	t.Helper()
	f, err := config.Parse("/project/claude-swarm.yaml", []byte(text))
	if err != nil {
		t.Fatalf("Parse(%q): %v", text, err)
	}
	return *f
}

// If a key is missing from the file, it has the default given in the reference.
func TestDefaultsOfTheReference(t *testing.T) {
	bare := parse(t, "agents: {a: }\n")
	for _, key := range config.Keys() {
		got := parse(t, document(key, key.Default))
		if diff := cmp.Diff(bare, got, unexported, emptyIsNil); diff != "" {
			t.Errorf("%s: %s is not the default, -without +with:\n%s", key.Path, key.Default, diff)
		}
	}
}

// An empty list or map is equivalent to a missing one, except for allowed_tools, whose
// default is not a list.
var emptyIsNil = cmp.FilterValues(func(a, b any) bool {
	va, vb := reflect.ValueOf(a), reflect.ValueOf(b)
	return va.IsValid() && vb.IsValid() && (va.Kind() == reflect.Slice || va.Kind() == reflect.Map) && va.Type() == vb.Type() && va.Len() == 0 && vb.Len() == 0
}, cmp.Ignore())

// goodValues contains a value for each key, by its path or, for a key of an agent, by its
// name. No value equals the default of its key. The map does not contain keys that depend
// on the kind of client.
var goodValues = map[string]string{
	"dead_drop_dir": "other", "project_dir": "other", "debounce": "3s", "max_running": "77", "max_warm": "77", "max_waiting": "77", "lead": "a", "lead_name": "orange", "topics.claim_timeout": "77s", "topics.fallback": "a", "topics.rules": "[{topic: \"review.*\", fallback: a, claim_timeout: 77s}]",
	"policy.allowed_types": "[task, result]", "policy.max_body_bytes": "77", "policy.sender_per_min": "77", "policy.thread_per_min": "77",
	"policy.max_hops": "77", "policy.max_returns": "77", "policy.max_echoes": "7", "policy.turns_per_hour": "77", "policy.stop_sentinel": "STOP",
	"policy.unproven": "refuse", "policy.editable": "[.mcp.json]", "policy.acl": "{a: {broadcast: false}}",
	"irc.server": "localhost", "irc.nick": "x", "irc.tls": "true", "irc.tls_name": "x", "irc.ca_file": "x", "irc.cert_file": "x", "irc.key_file": "x",
	"irc.sasl": "plain", "irc.account": "x", "irc.password_env": "X", "irc.password_file": "x", "irc.server_password_env": "X",
	"irc.server_password_file": "x", "irc.channel_keys_file": "x", "irc.style": "nicks", "irc.nick_prefix": "x-", "irc.slug": "x", "irc.channels": "{errors: null}", "irc.work_channels": "true",
	"irc.join": "[general]", "irc.map": "[{type: note, channel: none}]", "irc.allow": "[{account: ann, may: [talk]}]",
	"irc.buffer_size": "77", "irc.wakes_per_minute": "77", "irc.burst": "77", "irc.rate": "77", "irc.apart": "true",
	"supervisor.backend": "codex", "supervisor.command": "x", "supervisor.model": "x", "supervisor.thinking": "low", "supervisor.window_size": "77", "supervisor.eval_interval": "77",
	"supervisor.escalation_threshold": "7", "supervisor.interrupt_after": "7", "supervisor.rules": "{same_call: 7}",
	"webhooks":        "[{name: x, url: 'https://x.example/'}]",
	"log.max_size_mb": "77", "log.max_backups": "77", "log.max_age_days": "77", "audit.git": "true",
	"retention.done_days": "77", "retention.done_mb": "77", "retention.refused_days": "77", "retention.refused_mb": "77",
	"role": "x", "tags": "[x]", "zone": "x", "system": "x", "command": "x", "permission_mode": "plan", "window_tokens": "77",
	"compact_window": "777777", "stall_timeout": "77s", "turn_timeout": "77s", "retry_delay": "77s", "max_failures": "77",
	"session": "fresh", "cc_lead": "true", "linger": "77s", "background": "true", "attached": "true", "attached_mail": "notify", "allowed_tools": "Read", "disallowed_tools": "Read", "model": "x", "thinking": "low",
	"mcp": "false", "mcp_servers": "{a: {command: x}}", "allowed_dirs": "[x]",
	"hours": "{work: 08:00-20:00}", "heartbeat": "true", "heartbeat_prompt": "x",
	"hours.zone": "Europe/Berlin", "hours.work": "08:00-20:00", "notices.quiet": "22:00-07:00",
	"budget.billing": "api", "budget.warn": "0.5", "budget.swarm.day": "20", "budget.agent.day": "{usd: 8, turns: 100}", "budget.agent.turn": "2.5",
	"budget.task": "{usd: 5, turns: 30, time: 2h}", "budget": "{day: 8, turn: 0.5}",
	"verifiers": "{test: {run: make}}", "protect": "[ci/]",
	"worktree": "task", "worktree_copy": "[x]", "worktree_link": "[x]",
	"cwd": "x", "reread": "[x]", "channels": "[x]", "env": "{A: b}", "env_drop": "[A]",
}

// Every key of the reference has an effect at its path; a key of an agent also has an
// effect under defaults.
func TestEveryKeyOfTheReferenceChangesSomething(t *testing.T) {
	bare := parse(t, "agents: {a: }\n")
	for _, key := range config.Keys() {
		name := strings.TrimPrefix(key.Path, "agents.NAME.")
		if name == "backend" || name == "backend_options" || name == "permissions" || name == "verify" {
			continue // the first kind of client does not accept the values; see TestWhatAKindCannotDoIsSaid; verify needs other keys, see TestVerify
		}
		other, ok := goodValues[name]
		if !ok {
			t.Errorf("%s: goodValues has none for it", key.Path)
			continue
		}
		text := document(key, other)
		got := parse(t, text)
		if cmp.Equal(bare, got, unexported) {
			t.Errorf("%s: %s changes nothing", key.Path, other)
		}
		if name != key.Path {
			under := strings.Replace(text, "agents: {a: {", "defaults: {", 1)
			under = strings.TrimSuffix(under, "}\n") + "\nagents: {a: }\n"
			if diff := cmp.Diff(got, parse(t, under), unexported); diff != "" {
				t.Errorf("%s in defaults, -agent +defaults:\n%s", key.Path, diff)
			}
		}
	}
}

func TestReferenceIsComplete(t *testing.T) {
	seen := make(map[string]bool)
	for _, key := range config.Keys() {
		if key.Type == "" || key.Default == "" || !strings.HasSuffix(key.Doc, ".") {
			t.Errorf("%s: want a type, a default and a sentence, have %+v", key.Path, key)
		}
		if seen[key.Path] {
			t.Errorf("%s: twice", key.Path)
		}
		seen[key.Path] = true
	}
}

var commented = regexp.MustCompile(`(?m)^( *)#([a-z_]+):( +)([^#\n]*?) *(#.*)?$`)

func TestTemplate(t *testing.T) {
	text := config.Template()
	f := parse(t, text)
	if got, want := f.Names(), []string{"coder", "reviewer"}; !slices.Equal(got, want) {
		t.Errorf("agents %q, want %q", got, want)
	}

	// Each comment that contains a key shows the default, so removing the # does not
	// change the configuration.
	plain := commented.ReplaceAllString(text, "$1$2:$3$4 $5")
	if diff := cmp.Diff(f, parse(t, plain), unexported, emptyIsNil); diff != "" {
		t.Errorf("a default in a comment is not the default, -commented +taken in:\n%s", diff)
	}

	// The template contains every key of the reference, either in a comment or with a
	// value.
	for _, key := range config.Keys() {
		name := key.Path[strings.LastIndex(key.Path, ".")+1:]
		if !regexp.MustCompile(`(?m)^ *#?` + name + `:`).MatchString(text) {
			t.Errorf("the template lacks %s", key.Path)
		}
	}
	shown := commented.FindAllStringSubmatch(text, -1)
	if len(shown) < 25 {
		t.Errorf("%d keys in comments; the pattern of this test does not find them", len(shown))
	}
	for _, m := range shown {
		var defaults []string // several, because irc.channels and agents.NAME.channels end in the same name
		for _, k := range config.Keys() {
			if k.Path[strings.LastIndex(k.Path, ".")+1:] == m[2] {
				defaults = append(defaults, k.Default)
			}
		}
		if len(defaults) == 0 {
			t.Errorf("the template shows %s, which is not a key", m[2])
		} else if !slices.Contains(defaults, m[4]) {
			t.Errorf("the template shows %s: %s, the reference %s", m[2], m[4], strings.Join(defaults, " or "))
		}
	}
}
