package standin

import (
	"encoding/json"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"time"
)

// A server is one MCP server in the init line and in the answer to mcp_status. The
// stand-in starts none of these servers.
type server struct {
	Name   string `json:"name"`
	Status string `json:"status"`
	Error  string `json:"error,omitempty"`
}

// readServers finds the names of the MCP servers in the values of --mcp-config, which are
// file names or JSON.
func readServers(values []string) ([]string, error) {
	var names []string
	for _, value := range values {
		data := []byte(value)
		if !strings.HasPrefix(strings.TrimSpace(value), "{") {
			var err error
			if data, err = os.ReadFile(value); err != nil {
				return nil, complain("Error: Invalid MCP configuration:\nMCP config file not found: %s", value)
			}
		}
		var file struct {
			Servers map[string]json.RawMessage `json:"mcpServers"`
		}
		if err := json.Unmarshal(data, &file); err != nil {
			return nil, complain("Error: Invalid MCP configuration:\n%v", err)
		}
		names = append(names, slices.Sorted(maps.Keys(file.Servers))...)
	}
	return names, nil
}

// servers returns the printed state of the MCP servers; asked is the number of earlier
// requests for this state.
func (c *client) servers(asked int) []server {
	all := []server{}
	for _, name := range c.mcp {
		s := server{Name: name, Status: "connected"}
		says, detail, _ := strings.Cut(c.getenv("STANDIN_MCP"), " ")
		switch {
		case says == "slow" && asked < 2, says == "after" && time.Since(c.born) < c.span(detail):
			s.Status = "pending"
		case says == "slow", says == "after", says == "":
		default:
			s.Status, s.Error = says, detail
		}
		all = append(all, s)
	}
	return all
}

// tellTotal sets the cost in US dollars with which get_usage is answered.
func (c *client) tellTotal(usd float64) { c.runningTotal.Store(math.Float64bits(usd)) }

// control answers a control request.
func (c *client) control(in *inputLine) {
	answer := controlAnswer{Subtype: "success", RequestID: in.RequestID}
	mute := c.deaf.Load()
	unknown := func() {
		answer.Subtype, answer.Error = "error", "Unsupported control request subtype: "+in.Request.Subtype
		if !c.release.old() {
			answer.Code = "unsupported_request"
		}
	}
	switch in.Request.Subtype {
	case "interrupt":
		if !c.release.old() {
			answer.Response = map[string]any{"still_queued": []string{}}
		}
	case "initialize":
		if s := in.Request.Snapshot; s != nil && !c.release.old() {
			c.noSnapshot.Store(!*s)
		}
	case "get_usage":
		answer.Response = map[string]any{"session": map[string]any{"total_cost_usd": math.Float64frombits(c.runningTotal.Load())}, "rate_limits": nil}
	case "mcp_status":
		switch how, after, _ := strings.Cut(c.getenv("STANDIN_MCP_ANSWER"), " "); how {
		case "none":
			mute = true
		case "unknown":
			unknown()
		case "after":
			time.Sleep(c.span(after)) // the program reads no input during this time
			answer.Response = map[string]any{"mcpServers": c.servers(c.asked)}
			c.asked++
		default:
			answer.Response = map[string]any{"mcpServers": c.servers(c.asked)}
			c.asked++
		}
	default:
		unknown()
	}
	if mute {
		return
	}
	c.out.line(controlLine{Type: "control_response", Response: answer})
	if in.Request.Subtype == "interrupt" {
		c.interrupt()
	}
}

// span parses a duration from the environment. If the value is invalid, it prints an
// error and returns 0.
func (c *client) span(text string) time.Duration {
	d, err := parseDuration(text)
	if err != nil {
		c.complain("standin: " + err.Error())
	}
	return d
}
