package main

import (
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/ircbridge"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// The bridge receives the IRC settings and the passwords. The agents do not receive the
// passwords.
func TestIRCOptions(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, config.Name)
	text := `
irc:
  server: irc.example.net:7000
  nick: ramona
  tls_name: example.net
  sasl: plain
  account: bot
  password_file: secret
  server_password_env: IRC_TEST_PASS
  channel_keys_file: keys
  style: relaymsg
  slug: x
  channels: {standup: null}
  work_channels: true
  join: ["talk-{slug}"]
  map: [{type: note, channel: none}, {moment: result, channel: "done-{slug}"}]
  allow: [{account: ann, may: [talk, control]}]
  buffer_size: 7
  wakes_per_minute: 0
  burst: 9
  rate: 3
lead_name: opus-orange
agents: {coder: {env_drop: [EDITOR], channels: ["api-{slug}"]}}
`
	file, err := config.Parse(path, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	p := &project{dir: dir, home: journal.HomeOf(dir), file: file}
	if err := p.home.Make(); err != nil {
		t.Fatal(err)
	}
	t.Setenv("IRC_TEST_PASS", "of the server")
	log := slog.New(slog.DiscardHandler)
	if _, err := ircOptions(p, nil, log); err == nil || !strings.Contains(err.Error(), "irc.password_file") || nextStep(err) == "" {
		t.Errorf("without the file of the password: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "secret"), []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ircOptions(p, nil, log); err == nil || !strings.Contains(err.Error(), "irc.channel_keys_file") || !strings.Contains(nextStep(err), "KEY") {
		t.Errorf("without the file of the keys: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "keys"), []byte("#vault-{slug} sesame\r\n\n  side\t#7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for content, ok := range map[string]bool{"": false, "\n": false, "of the account\r\nmore\n": true} {
		if err := os.WriteFile(filepath.Join(dir, "secret"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ircOptions(p, nil, log); (err == nil) != ok {
			t.Errorf("with the password %q: %v", content, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "secret"), []byte("of the account\nmore\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := ircOptions(p, nil, log)
	if err != nil {
		t.Fatal(err)
	}
	if keys := (map[string]string{"#vault-x": "sesame", "#side": "#7"}); !maps.Equal(o.Keys, keys) {
		t.Errorf("keys %v, want %v", o.Keys, keys)
	}
	want := ircbridge.Server{
		Addr: "irc.example.net:7000", Nick: "ramona", RealName: "claude-swarm of x", Password: "of the server", TLS: true, ServerName: "example.net",
		SASL: "plain", Account: "bot", SASLPassword: "of the account", Burst: 9, Rate: 3,
	}
	if o.Server != want {
		t.Errorf("server %+v, want %+v", o.Server, want)
	}
	if c := (bridge.Channels{Project: "#project-x", Work: "#work-{task-id}", Alerts: "#alerts", Errors: "#errors", Own: map[string][]string{"coder": {"#api-x"}}}); !reflect.DeepEqual(o.Channels, c) {
		t.Errorf("channels %+v, want %+v", o.Channels, c)
	}
	if !slices.Equal(o.Join, []string{"#talk-x", "#done-x"}) || o.WakesPerMinute != -1 || o.BufferSize != 7 || o.Style != ircbridge.StyleRelay {
		t.Errorf("options %+v", o)
	}
	if len(o.Allow) != 1 || o.Allow[0].Account != "ann" || !slices.Equal(o.Allow[0].May, []bridge.Right{bridge.Talk, bridge.Control}) {
		t.Errorf("permits %+v", o.Allow)
	}
	m := &dropbox.Message{ID: "aaaaaaaaaa", From: "irc", Type: dropbox.Task, Body: []byte("x")}
	m.Proof = o.Sign(m, "coder")
	tokens, err := p.home.Tokens()
	if err != nil || !dropbox.Proven(tokens["irc"], m, "coder") {
		t.Errorf("what the bridge signs is not proven (%v)", err)
	}
	if got := o.Agents(); !slices.Equal(got, []string{"coder"}) {
		t.Errorf("agents %q", got)
	}
	if lead, coder := o.Called(dropbox.Lead), o.Called("coder"); lead != "opus-orange" || coder != "coder" {
		t.Errorf("lead is called %s, coder %s", lead, coder)
	}
	if drop := planOf(file).Agents[0].EnvDrop; !slices.Equal(drop, []string{"EDITOR", "IRC_TEST_PASS"}) {
		t.Errorf("taken out of the agents' environment: %q", drop)
	}
}

// With style: nicks and a nick_prefix, each agent's nick begins with the prefix.
func TestNickPrefix(t *testing.T) {
	dir := t.TempDir()
	for prefix, want := range map[string]string{"null": "", "shop-": "shop-coder"} {
		file, err := config.Parse(filepath.Join(dir, config.Name), []byte("irc: {server: localhost, style: nicks, nick_prefix: "+prefix+"}\nagents: {coder: }\n"))
		if err != nil {
			t.Fatal(err)
		}
		p := &project{dir: dir, home: journal.HomeOf(dir), file: file}
		if err := p.home.Make(); err != nil {
			t.Fatal(err)
		}
		o, err := ircOptions(p, nil, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if o.Nick != nil {
			got = o.Nick("coder")
		}
		if got != want {
			t.Errorf("nick_prefix %s: coder is called %q, want %q", prefix, got, want)
		}
	}
}
