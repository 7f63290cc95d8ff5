package e2e_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/mcpserver"
)

// inspectorDir is the folder of the inspector, an independent MCP client written in another
// language. The inspector lists all tools before it calls one. It checks each result
// against the tool's schema.
const inspectorDir = "../../.tools/inspector/node_modules/@modelcontextprotocol/inspector-cli/build"

// inspected is the inspector's output for a tool list or a call.
type inspected struct {
	Tools []struct {
		Name        string
		Description string
		InputSchema struct{ Properties map[string]any }
	}
	IsError           bool
	Content           []struct{ Text string }
	StructuredContent json.RawMessage
}

// inspect runs the inspector against the coder agent's server.
func (p *project) inspect(args ...string) (got inspected, printed string) {
	dir, err := filepath.Abs(inspectorDir)
	if err != nil {
		p.t.Error(err)
		return
	}
	ctx, cancel := context.WithTimeout(p.t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", append([]string{"index.js", program, "mcp"}, args...)...)
	cmd.Dir = dir // the inspector looks for its own version in the parent folder
	cmd.Env = append(slices.Clone(p.env), "CLAUDE_SWARM_AGENT=coder", "CLAUDE_SWARM_DIR="+p.dir)
	out, err := cmd.CombinedOutput()
	if err == nil {
		err = json.Unmarshal(out, &got)
	}
	if err != nil {
		p.t.Errorf("the inspector with %q: %v\n%s", args, err, out)
	}
	return got, string(out)
}

// An independent client lists all tools, calls each of them, and makes calls that contain
// many kinds of mistakes. Each error says what is wrong.
func TestTheInspectorCallsEveryTool(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat(inspectorDir); err != nil {
		t.Fatalf("the MCP inspector is missing: %v\n  try: make tools", err)
	}
	p := newProject(t, `{"replies":[]}`, "  coder: {role: coder}\n  reviewer: {role: reviewer}\nirc: {server: \"localhost:1\", slug: x, apart: true}\n")
	p.start()
	p.swarm("halt") // prevents agents from working on the messages
	own := p.env
	p.env = append(slices.Clone(own), "CLAUDE_SWARM_AGENT=reviewer")
	mail := strings.TrimSpace(p.swarm("send", "coder", "Is it done?", "--type", "question"))
	owed := strings.TrimSpace(p.swarm("send", "coder", "And that?", "--type", "question"))
	p.env = own
	first := strings.TrimSpace(p.swarm("publish", "review.requested", "Look at it"))
	second := strings.TrimSpace(p.swarm("publish", "review.requested", "Look at that"))

	// The state file describes a bridge in a channel, but no bridge is running.
	p.write(".claude-swarm/irc/state.json", `{"v":1,"connected":true,"channels":[{"name":"#project-x","joined":true,"topic":"Release","members":[{"nick":"ann","modes":"@"}]}]}`)

	listed, _ := p.inspect("--method", "tools/list")
	var names, want []string
	for _, tool := range listed.Tools {
		names = append(names, tool.Name)
	}
	for _, tool := range mcpserver.New(mcpserver.Options{IRC: true}).Tools() {
		want = append(want, tool.Name)
	}
	slices.Sort(names)
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Fatalf("it lists %q, want %q", names, want)
	}

	type call struct {
		tool string
		args []string
		want string // expected part of the text
		fail bool
	}
	good := func(tool, want string, args ...string) call { return call{tool, args, want, false} }
	bad := func(tool, want string, args ...string) call { return call{tool, args, want, true} }
	calls := []call{
		good("whoami", "You are coder"),
		bad("whoami", `there is no argument "name"; it takes none`, "name=x"),
		good("list_agents", "reviewer: ", "agent=reviewer"),
		bad("list_agents", `no agent named "reviewr" here; did you mean reviewer?`, "agent=reviewr"),
		good("send", "Sent: ", "to=reviewer", "text=Look at it", `cc=["lead"]`),
		bad("send", `type: "tsk" is not one of`, "to=reviewer", "text=x", "type=tsk"),
		good("ask", "Your default: tabs", "to=reviewer", "text=Tabs?", "default=tabs", "timeout=5"),
		bad("ask", "timeout: 0 is too small; the minimum is 1", "to=reviewer", "text=x", "timeout=0"),
		good("inbox", mail, "unread=true"),
		good("read", "Is it done?", "id="+mail),
		bad("read", "the argument id is missing: the message"),
		good("reply", "Sent: ", "id="+owed, "text=Yes"),
		bad("reply", "no such message", "id=zzzzzzzzzz", "text=x"),
		good("publish", "Published on task.created as", "topic=task.created", "text=Port it"),
		bad("publish", `topic "Task": must be words of a-z`, "topic=Task", "text=x"),
		good("subscribe", "coder subscribes to ", `patterns=["task.*","review.>"]`),
		bad("subscribe", "patterns: want a list of strings, got text", "patterns=task.*"),
		good("unsubscribe", "coder subscribes to", `patterns=["never.heard"]`),
		good("topics", "review.requested from lead"),
		good("claim", first+" is yours", "id="+first),
		good("ack", second+" is completed. lead got your text.", "id="+second, "text=It is good"),
		bad("ack", "failed: want true or false, got 7", "id="+second, "failed=7"),
		good("history", "coder has done nothing yet.", "n=5"),
		good("tasks", "from lead"),
		good("board_write", "Written", "page=status", "text=All is well"),
		bad("board_write", "only reviewer may write", "page=handoff/reviewer", "text=x"),
		good("board_read", ""), // at this point the page may or may not exist
		bad("board_read", `there is no page "nothing"`, "page=nothing"),
		good("compact_context", "will be compacted"),
		good("clear_context", "Your handoff is written", "handoff=Go on"),
		bad("clear_context", "handoff: want text, got a list", `handoff=["x"]`),
		good("set_directory", "claude-swarm.yaml", "path=."),
		bad("set_directory", "outside your folders", "path=/etc"),
		good("irc_send", "Left for #project-x", "channel=#project-x", "message=The build is green"),
		good("irc_read", "", "channel=#project-x"),
		good("irc_ask", "", "channel=#project-x", "question=Tabs?", "timeout=1"),
		good("irc_join", "#general", "channel=#general"),
		good("irc_part", "#general", "channel=#general"),
		good("irc_channels", "#project-x: 1 member"),
		good("irc_who", "@ann"),
		good("irc_topic", "#project-x", "channel=#project-x", "text=Release"),
		good("send_message", "Left for #project-x", "channel=#project-x", "text=Still green"),
		good("read_messages", "", "channel=#project-x"),
		bad("read_messages", "is not a time", "channel=#project-x", "since=yesterday"),
		good("create_channel", "#work-1", "name=#work-1"),
		good("list_channels", "#project-x"),
		good("get_members", "ann", "channel=#project-x"),
	}
	for _, name := range want {
		if !slices.ContainsFunc(calls, func(c call) bool { return c.tool == name && !c.fail }) {
			t.Errorf("%s is not called", name)
		}
	}

	queue := make(chan call)
	var callers sync.WaitGroup
	for range 2 {
		callers.Go(func() {
			for c := range queue {
				args := []string{"--method", "tools/call", "--tool-name", c.tool}
				for _, a := range c.args {
					args = append(args, "--tool-arg", a)
				}
				got, printed := p.inspect(args...)
				text := ""
				if len(got.Content) == 1 {
					text = got.Content[0].Text
				}
				if got.IsError != c.fail || c.fail && !strings.HasPrefix(text, c.tool+": ") || !strings.Contains(text, c.want) || (len(got.StructuredContent) > 0) == c.fail {
					t.Errorf("%s %q: want %q, an error: %v; got %s", c.tool, c.args, c.want, c.fail, printed)
				}
			}
		})
	}
	for _, c := range calls {
		queue <- c
	}
	close(queue)
	callers.Wait()
}
