package config_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/internal/config"
)

// noIRC returns the IRC settings of a project in dir whose configuration has no IRC
// server.
func noIRC(dir string) config.IRC {
	return config.IRC{
		Nick: "swarm", Style: "prefix", Slug: filepath.Base(dir), BufferSize: 500, WakesPerMinute: 10, Burst: 4, Rate: 1,
		Channels: config.IRCChannels{Project: "#project-{slug}", Standup: "#standup-{slug}", Work: "#work-{task-id}", Alerts: "#alerts", Errors: "#errors"},
	}
}

func TestIRC(t *testing.T) {
	f := parse(t, `
irc:
  server: irc.example.net
  nick: ramona
  sasl: plain
  account: bot
  password_file: secret
  server_password_env: IRC_PASS
  ca_file: /etc/ca.pem
  style: relaymsg
  slug: x
  channels: {project: "#talk-{slug}", standup: null, alerts: "&alerts", errors: "+errors"}
  work_channels: true
  join: [general, "#random"]
  map:
    - {type: note, channel: none}
    - {moment: result, from: coder, to: lead, channel: "shown-{slug}"}
    - {type: task, from: opus-orange, channel: tasks}
    - {type: note, to: opus-orange, channel: notes}
  allow:
    - {account: ann, may: [talk, task, control]}
    - {mask: "*!*@host.example", may: [talk]}
  buffer_size: 50
  wakes_per_minute: 0
  burst: 8
  rate: 0
  apart: true
lead_name: opus-orange
agents: {coder: }
`)
	want := config.IRC{
		Server: "irc.example.net", Nick: "ramona", TLS: true, CAFile: "/etc/ca.pem", SASL: "plain", Account: "bot",
		PasswordFile: "/project/secret", ServerPasswordEnv: "IRC_PASS", Style: "relaymsg", Slug: "x",
		Channels:     config.IRCChannels{Project: "#talk-{slug}", Work: "#work-{task-id}", Alerts: "&alerts", Errors: "+errors"},
		WorkChannels: true, Join: []string{"#general", "#random"},
		Map: []config.IRCRule{{Type: "note"}, {Moment: "result", From: "coder", To: "lead", Channel: "#shown-{slug}"},
			{Type: "task", From: "lead", Channel: "#tasks"}, {Type: "note", To: "lead", Channel: "#notes"}},
		Allow:      []config.IRCPermit{{Account: "ann", May: []string{"talk", "task", "control"}}, {Mask: "*!*@host.example", May: []string{"talk"}}},
		BufferSize: 50, Burst: 8, Apart: true,
	}
	if diff := cmp.Diff(want, f.IRC); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := f.IRC.Channel(f.IRC.Channels.Project); got != "#talk-x" {
		t.Errorf("the channel of the project is %s, want #talk-x", got)
	}
}

// Connections between machines are encrypted, unless the configuration turns this off.
func TestTLSUnlessOnThisMachine(t *testing.T) {
	for text, want := range map[string]bool{
		"server: irc.example.net":                         true,
		"server: irc.example.net:6667":                    true,
		"server: irc.example.net, tls: auto":              true,
		"server: irc.example.net, tls: false":             false,
		"server: 192.168.1.7":                             true,
		"server: localhost":                               false,
		"server: localhost:6667":                          false,
		"server: LOCALHOST.":                              false,
		"server: 127.0.0.1:6667":                          false,
		`server: "[::1]:6667"`:                            false,
		"server: localhost, tls: true":                    true,
		"tls: true, server: localhost":                    true,
		"server: localhost.example.net":                   true,
		"server: 127.0.0.1.example.net:6667":              true,
		"server: localhost, sasl: plain, password_env: A": false,
	} {
		if f := parse(t, "irc: {"+text+"}\nagents: {a: }\n"); f.IRC.TLS != want {
			t.Errorf("%s: TLS %v, want %v", text, f.IRC.TLS, want)
		}
	}
}

// A bad address is reported when the file is read, rather than when a connection fails.
func TestServerIsAnAddress(t *testing.T) {
	for server, want := range map[string]string{
		"localhost": "", "irc.example.net": "", "irc.example.net:7000": "", "192.168.1.7": "", "'[::1]:6667'": "", "'::1'": "", "'[::1]'": "", "null": "",
		"localhost:99999":                `irc.server: "99999" is not a port: a port is a number from 1 to 65535; server: localhost:6697`,
		"localhost:0":                    `irc.server: "0" is not a port: a port is a number from 1 to 65535; server: localhost:6697`,
		"localhost:irc":                  `irc.server: "irc" is not a port: a port is a number from 1 to 65535; server: localhost:6697`,
		"'localhost:'":                   `irc.server: "" is not a port: a port is a number from 1 to 65535; server: localhost:6697`,
		"ircs://irc.example.net:6697/#x": `irc.server: want host or host:port, got the URL ircs://irc.example.net:6697/#x; server: irc.example.net:6697`,
		"':6667'":                        `irc.server: ":6667" is neither host nor host:port; server: irc.example.net:6697`,
		"a:b:c":                          `irc.server: "a:b:c" is neither host nor host:port; server: irc.example.net:6697`,
		"irc.example.net/x":              `irc.server: "irc.example.net/x" is neither host nor host:port; server: irc.example.net:6697`,
	} {
		_, err := config.Parse("/x/claude-swarm.yaml", []byte("irc:\n  server: "+server+"\nagents: {a: }\n"))
		got := ""
		if first, ok := errors.AsType[*config.Error](err); ok {
			got = first.Problem + "; " + first.Try
		} else if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", server, got, want)
		}
	}
}

// Own contains, and ProjectOf returns, the right channels for each agent.
func TestChannelsOfAgents(t *testing.T) {
	f := parse(t, `
irc: {server: localhost, slug: x}
agents:
  coder: {channels: ["api-{slug}", "&local"]}
  tester: {channels: []}
`)
	if diff := cmp.Diff(map[string][]string{"coder": {"#api-x", "&local"}}, f.IRC.Own); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if coder, tester := f.IRC.ProjectOf("coder"), f.IRC.ProjectOf("tester"); coder != "#api-x" || tester != "#project-x" {
		t.Errorf("coder talks in %s, tester in %s", coder, tester)
	}
}

func TestSlug(t *testing.T) {
	for path, want := range map[string]string{
		"/home/ann/My Project/claude-swarm.yaml": "my-project", "/x/claude-swarm.yaml": "x", "/claude-swarm.yaml": "swarm",
		"/ä/claude-swarm.yaml": "swarm", "/a.b_c/claude-swarm.yaml": "a-b_c",
	} {
		f, err := config.Parse(path, []byte("agents: {a: }\n"))
		if err != nil {
			t.Fatal(err)
		}
		if f.IRC.Slug != want {
			t.Errorf("the slug of %s is %q, want %q", path, f.IRC.Slug, want)
		}
	}
}
