package config_test

import (
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/config"
)

// typical is a configuration of typical length.
const typical = `# The agents of the shop.
project_dir: .
max_running: 4
lead: planner
policy:
  sender_per_min: 30
  acl:
    planner: {direct: [coder, tester]}
irc:
  server: irc.example.net
  sasl: plain
  password_file: secret
  allow:
    - {account: ann, may: [talk, task, control]}
retention: {done_days: 30}
defaults:
  permission_mode: acceptEdits
  stall_timeout: 15m
  env: {LANG: C.UTF-8}
agents:
  planner:
    role: planner
    system: |
      You plan the work and give it to the others.
    model: opus
    thinking: high
  coder:
    role: coder
    zone: "the shop: cart and payment"
    allowed_tools: "Read,Edit,Write,Bash(go test:*)"
    mcp_servers:
      files: {command: npx, args: [-y, files]}
    reread: [BACKLOG.md]
  tester:
    role: tester
    session: fresh
    turn_timeout: 30m
    env: {PORT: 8080}
`

func BenchmarkParse(b *testing.B) {
	for _, c := range []struct{ name, text string }{{"typical", typical}, {"template", config.Template()}, {"least", "agents: {a: }\n"}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(c.text)))
			for b.Loop() {
				if _, err := config.Parse("/project/claude-swarm.yaml", []byte(c.text)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
