package config_test

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/internal/config"
)

// wrongValues contains values of every kind; for any given key, most of them are wrong.
var wrongValues = []string{"~", "[7]", "{x: y}", "two words", "true", "0", "-1", "9999999999", `""`, `"a\nb"`}

// deeperKeys contains the keys below those of the reference. Each comes with a document
// that contains %s in place of the value, and with good values.
var deeperKeys = []struct {
	path, text string
	good       []string
}{
	{"mcp_servers.s", "agents: {a: {mcp_servers: {s: %s}}}", []string{"{command: x}"}},
	{"mcp_servers.s.type", "agents: {a: {mcp_servers: {s: {url: http://x, type: %s}}}}", []string{"http", "sse", "stdio"}},
	{"mcp_servers.s.command", "agents: {a: {mcp_servers: {s: {command: %s}}}}", []string{"x", "./x"}},
	{"mcp_servers.s.args", "agents: {a: {mcp_servers: {s: {command: x, args: %s}}}}", []string{`[a, ""]`}},
	{"mcp_servers.s.env", "agents: {a: {mcp_servers: {s: {command: x, env: %s}}}}", []string{"{A: 7}"}},
	{"mcp_servers.s.env.A", "agents: {a: {mcp_servers: {s: {command: x, env: {A: %s}}}}}", []string{"x"}},
	{"mcp_servers.s.url", "agents: {a: {mcp_servers: {s: {type: http, url: %s}}}}", []string{"http://x", "https://x/y"}},
	{"mcp_servers.s.headers", "agents: {a: {mcp_servers: {s: {type: http, url: http://x, headers: %s}}}}", []string{"{A-B: x}"}},
	{"env.A", "agents: {a: {env: {A: %s}}}", []string{"x"}},
	{"irc.channels.project", "irc: {channels: {project: %s}}\nagents: {a: }", []string{"x"}},
	{"irc.channels.standup", "irc: {channels: {standup: %s}}\nagents: {a: }", []string{"x"}},
	{"irc.channels.work", "irc: {channels: {work: %s}}\nagents: {a: }", []string{"'x-{task-id}'", "x"}},
	{"irc.channels.alerts", "irc: {channels: {alerts: %s}}\nagents: {a: }", []string{"'&x'"}},
	{"irc.channels.errors", "irc: {channels: {errors: %s}}\nagents: {a: }", []string{"'#x'"}},
	{"irc.map[]", "irc: {map: [%s]}\nagents: {a: }", []string{"{channel: x}"}},
	{"irc.map[].type", "irc: {map: [{channel: x, type: %s}]}\nagents: {a: }", []string{"note"}},
	{"irc.map[].from", "irc: {map: [{channel: x, from: %s}]}\nagents: {a: }", []string{"a", "lead", "irc", "swarm"}},
	{"irc.map[].to", "irc: {map: [{channel: x, to: %s}]}\nagents: {a: }", []string{"a", "lead"}},
	{"irc.map[].moment", "irc: {map: [{channel: x, moment: %s}]}\nagents: {a: }", []string{"dead"}},
	{"irc.map[].channel", "irc: {map: [{type: note, channel: %s}]}\nagents: {a: }", []string{"x", "none"}},
	{"irc.allow[]", "irc: {allow: [%s]}\nagents: {a: }", []string{"{account: x, may: [talk]}"}},
	{"irc.allow[].account", "irc: {allow: [{may: [talk], account: %s}]}\nagents: {a: }", []string{"x"}},
	{"irc.allow[].mask", "irc: {allow: [{may: [talk], mask: %s}]}\nagents: {a: }", []string{"'*!*@x'"}},
	{"irc.allow[].nick", "irc: {allow: [{may: [talk], nick: %s}]}\nagents: {a: }", []string{"x"}},
	{"irc.allow[].may", "irc: {allow: [{account: x, may: %s}]}\nagents: {a: }", []string{"[talk, task, control]"}},
	{"webhooks[]", "webhooks: [%s]\nagents: {a: }", []string{"{name: x, url: 'https://x.example/'}", "{name: x}", "{url: 'https://x.example/'}"}},
	{"webhooks[].name", "webhooks: [{url: 'https://x.example/', name: %s}]\nagents: {a: }", []string{"ops-2", "Ops"}},
	{"webhooks[].url", "webhooks: [{name: x, url: %s}]\nagents: {a: }", []string{"'https://x.example/y?z=1'", "http://x.example/", "'https://10.0.0.1'", "'https://localhost:8080'", "'https://a:b@x.example'", "'https://[fe80::1]/'", "x.example", "ftp://x.example", "'https://'", "'https://x.example/#y'", "'https://x.example:99999/'", "'https://x.example:8443/'", "'%%zz'"}},
	{"webhooks[].url_env", "webhooks: [{name: x, url_env: %s}]\nagents: {a: }", []string{"OPS_URL", "https://x.example"}},
	{"webhooks[].kind", "webhooks: [{name: x, url: 'https://x.example/', kind: %s}]\nagents: {a: }", []string{"slack", "discrod"}},
	{"webhooks[].secret_env", "webhooks: [{name: x, url: 'https://x.example/', secret_env: %s}]\nagents: {a: }", []string{"OPS_SECRET"}},
	{"webhooks[].secret_file", "webhooks: [{name: x, url: 'https://x.example/', secret_file: %s}]\nagents: {a: }", []string{"ops.secret"}},
	{"webhooks[].events", "webhooks: [{name: x, url: 'https://x.example/', events: %s}]\nagents: {a: }", []string{"[limit, agent_error, limit]", "[agent_eror]", "[]", "limit"}},
	{"webhooks[].private", "webhooks: [{name: x, url: 'http://10.0.0.1/', private: %s}]\nagents: {a: }", []string{"true", "false"}},
	{"policy.acl.a", "policy: {acl: {a: %s}}\nagents: {a: }", []string{"{}"}},
	{"policy.acl.a.publish", "policy: {acl: {a: {publish: %s}}}\nagents: {a: }", []string{"[a.b, 'a.>']", "[]"}},
	{"policy.acl.a.subscribe", "policy: {acl: {a: {subscribe: %s}}}\nagents: {a: }", []string{"['*.b']"}},
	{"policy.acl.a.direct", "policy: {acl: {a: {direct: %s}}}\nagents: {a: }", []string{"[a, irc, lead]", "[]"}},
	{"policy.acl.a.broadcast", "policy: {acl: {a: {broadcast: %s}}}\nagents: {a: }", []string{"false"}},
	{"an agent", "agents: {a: %s}", []string{"{role: x}"}},
	{"agents", "agents: %s", []string{"{a: }"}},
	{"defaults", "defaults: %s\nagents: {a: }", []string{"{role: x}"}},
	{"log", "log: %s\nagents: {a: }", []string{"{max_size_mb: 1}"}},
}

// Each key gets a good value and then values of every kind. testdata/values.txt contains
// the effect or the error message of each value. UPDATE=1 rewrites the file.
func TestWhatEveryKeyTakes(t *testing.T) {
	var b strings.Builder
	about := func(path string, document func(value string) string, good []string) {
		fmt.Fprintf(&b, "%s\n", path)
		for _, value := range slices.Concat(good, wrongValues) {
			told, _, _ := strings.Cut(outcome(document(value)), "; this version has ") // the list of backends is left out
			fmt.Fprintf(&b, "  %-12s %s\n", value, told)
		}
	}
	for _, key := range config.Keys() {
		good := cmp.Or(goodValues[strings.TrimPrefix(key.Path, "agents.NAME.")], key.Default)
		about(key.Path, func(value string) string { return document(key, value) }, []string{good})
	}
	for _, k := range deeperKeys {
		about(k.path, func(value string) string { return fmt.Sprintf(k.text, value) + "\n" }, k.good)
	}
	const golden = "testdata/values.txt"
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(strings.Split(string(want), "\n"), strings.Split(b.String(), "\n")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// outcome describes which settings a document changes, or what is wrong with the
// document.
func outcome(text string) string {
	const path = "/project/claude-swarm.yaml"
	got, err := config.Parse(path, []byte(text))
	if errs, ok := errors.AsType[config.Errors](err); ok {
		var told []string
		for _, e := range errs {
			line := strings.TrimPrefix(e.Error(), path+":")
			if e.Try != "" {
				line += " (try: " + e.Try + ")"
			}
			told = append(told, line)
		}
		return strings.Join(told, " | ")
	}
	if err != nil {
		return err.Error()
	}
	bare, err := config.Parse(path, []byte("agents: {a: }\n"))
	if err != nil {
		return err.Error()
	}
	before, after := make(map[string]string), make(map[string]string)
	flatten(before, "", reflect.ValueOf(*bare))
	flatten(after, "", reflect.ValueOf(*got))
	changed := []string{"ok"}
	for name, value := range after {
		if before[name] != value {
			changed = append(changed, strings.TrimPrefix(name, ".")+"="+value)
		}
	}
	slices.Sort(changed[1:])
	return strings.Join(changed, " ")
}

// flatten adds every exported value inside v to a map, with its path as the key.
func flatten(to map[string]string, name string, v reflect.Value) {
	switch {
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			switch f := v.Type().Field(i); {
			case f.Anonymous:
				flatten(to, name, v.Field(i))
			case f.IsExported():
				flatten(to, name+"."+f.Name, v.Field(i))
			}
		}
	case v.Kind() == reflect.Pointer && !v.IsNil():
		flatten(to, name+"*", v.Elem())
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct:
		to[name] = fmt.Sprint(v.Len())
		for i := range v.Len() {
			flatten(to, fmt.Sprintf("%s[%d]", name, i), v.Index(i))
		}
	case v.Kind() == reflect.Map:
		for _, k := range v.MapKeys() {
			flatten(to, fmt.Sprintf("%s[%v]", name, k), v.MapIndex(k))
		}
	case v.Kind() == reflect.String || v.Kind() == reflect.Slice:
		to[name] = fmt.Sprintf("%q", v)
	default:
		to[name] = fmt.Sprint(v)
	}
}
