package streamjson_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner/claude"
	"github.com/claude-swarm/claude-swarm/window"
)

// mix returns a stream of at least 8 MB. It concatenates all transcripts of Claude Code
// 2.1.197 except skip, and repeats them as often as necessary. In big_output.jsonl, two
// lines with a large file make up more than half of all bytes.
func mix(tb testing.TB, skip ...string) []byte {
	tb.Helper()
	paths, err := filepath.Glob("../testdata/transcripts/*.jsonl")
	if err != nil || len(paths) == 0 {
		tb.Fatalf("transcripts: %v, %v", paths, err)
	}
	var once, all []byte
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			tb.Fatal(err)
		}
		if len(skip) == 0 || filepath.Base(path) != skip[0] {
			once = append(once, data...)
		}
	}
	for len(all) < 8<<20 {
		all = append(all, once...)
	}
	return all
}

// floorEvent is the struct into which the floor sub-benchmark decodes a line with
// encoding/json.
type floorEvent struct {
	Type      string `json:"type"`
	Subtype   string `json:"subtype"`
	Session   string `json:"session_id"`
	UUID      string `json:"uuid"`
	Parent    string `json:"parent_tool_use_id"`
	Synthetic bool   `json:"isSynthetic"`
	Replay    bool   `json:"isReplay"`
	Error     string `json:"error"`
	Message   struct {
		ID      string          `json:"id"`
		Model   string          `json:"model"`
		Content json.RawMessage `json:"content"`
		Usage   *floorUsage     `json:"usage"`
	} `json:"message"`

	Cwd            string   `json:"cwd"`
	Model          string   `json:"model"`
	PermissionMode string   `json:"permissionMode"`
	Version        string   `json:"claude_code_version"`
	Tools          []string `json:"tools"`
	Servers        []struct {
		Name   string `json:"name"`
		Status string `json:"status"`
	} `json:"mcp_servers"`

	IsError        bool        `json:"is_error"`
	APIStatus      int         `json:"api_error_status"`
	Result         string      `json:"result"`
	Errors         []string    `json:"errors"`
	Turns          int         `json:"num_turns"`
	Duration       float64     `json:"duration_ms"`
	Cost           float64     `json:"total_cost_usd"`
	StopReason     string      `json:"stop_reason"`
	TerminalReason string      `json:"terminal_reason"`
	Usage          *floorUsage `json:"usage"`
	Denials        []struct {
		Tool  string          `json:"tool_name"`
		ID    string          `json:"tool_use_id"`
		Input json.RawMessage `json:"tool_input"`
	} `json:"permission_denials"`
	Models map[string]struct {
		Input         int     `json:"inputTokens"`
		Output        int     `json:"outputTokens"`
		CacheRead     int     `json:"cacheReadInputTokens"`
		CacheWrite    int     `json:"cacheCreationInputTokens"`
		Cost          float64 `json:"costUSD"`
		ContextWindow int     `json:"contextWindow"`
	} `json:"modelUsage"`

	Status        string `json:"status"`
	CompactResult string `json:"compact_result"`
	CompactError  string `json:"compact_error"`
	Compact       struct {
		Trigger string `json:"trigger"`
		Pre     int    `json:"pre_tokens"`
		Post    int    `json:"post_tokens"`
	} `json:"compact_metadata"`
	Attempt     int     `json:"attempt"`
	MaxRetries  int     `json:"max_retries"`
	RetryDelay  float64 `json:"retry_delay_ms"`
	ErrorStatus int     `json:"error_status"`
	HookID      string  `json:"hook_id"`
	HookName    string  `json:"hook_name"`
	HookEvent   string  `json:"hook_event"`
	Output      string  `json:"output"`
	ExitCode    int     `json:"exit_code"`
	Outcome     string  `json:"outcome"`
	TaskID      string  `json:"task_id"`
	ToolUseID   string  `json:"tool_use_id"`
	Summary     string  `json:"summary"`
}

type floorUsage struct {
	Input      int `json:"input_tokens"`
	Output     int `json:"output_tokens"`
	CacheRead  int `json:"cache_read_input_tokens"`
	CacheWrite int `json:"cache_creation_input_tokens"`
}

type floorBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
}

func floorDecode(b *testing.B, stream []byte) {
	r := bufio.NewReaderSize(bytes.NewReader(stream), 1<<20)
	for {
		line, err := r.ReadSlice('\n')
		if err == io.EOF {
			return
		}
		var ev floorEvent
		if err := json.Unmarshal(line, &ev); err != nil {
			b.Fatal(err)
		}
		if c := ev.Message.Content; len(c) > 0 && c[0] == '[' {
			var blocks []floorBlock
			if err := json.Unmarshal(c, &blocks); err != nil {
				b.Fatal(err)
			}
		}
	}
}

var tools = claude.Kind().Tools

// remember adds an event to the window the way the daemon does.
func remember(win *window.Buffer, names map[string]string, ev *streamjson.Event) {
	if ev.Parent != "" || ev.Synthetic {
		return
	}
	for i := range ev.Blocks {
		switch b := &ev.Blocks[i]; {
		case ev.Kind == streamjson.KindAssistant && b.Kind == streamjson.BlockText:
			win.AddText(b.Text)
		case ev.Kind == streamjson.KindAssistant && b.Kind == streamjson.BlockToolUse:
			names[b.ID] = b.Name
			win.AddCall(b.Name, tools.About(b.Name, b.Input), b.Input)
		case ev.Kind == streamjson.KindUser && b.Kind == streamjson.BlockToolResult:
			win.AddResult(names[b.ID], b.Text, b.Failed)
			delete(names, b.ID)
		}
	}
}

func oursDecode(b *testing.B, stream []byte, win *window.Buffer) {
	d := streamjson.NewDecoder(bytes.NewReader(stream), 0)
	names := map[string]string{}
	for {
		ev, err := d.Next()
		if err == io.EOF {
			break
		}
		if win != nil {
			remember(win, names, ev)
		}
	}
	if s := d.Stats(); s.Bad+s.Unknown+s.TooLong > 0 {
		b.Fatalf("Stats = %+v", s)
	}
}

// BenchmarkStream decodes a turn's stream and maintains the window. The goal is four
// times the floor's speed with at most two allocations per line.
func BenchmarkStream(b *testing.B) {
	for name, stream := range map[string][]byte{
		"all":   mix(b),
		"small": mix(b, "big_output.jsonl"), // without long strings to skip, which is the hard case
	} {
		lines := float64(bytes.Count(stream, []byte("\n")))
		run := func(variant string, decode func()) {
			b.Run(name+"/"+variant, func(b *testing.B) {
				b.SetBytes(int64(len(stream)))
				b.ReportAllocs()
				for b.Loop() {
					decode()
				}
				b.ReportMetric(lines, "lines/op")
				allocs := testing.AllocsPerRun(1, decode)
				b.ReportMetric(allocs/lines, "allocs/line")
			})
		}
		run("floor/encoding-json", func() { floorDecode(b, stream) })
		run("ours/decode", func() { oursDecode(b, stream, nil) })
		run("ours/decode-and-window", func() { oursDecode(b, stream, window.New(window.Options{})) })
	}
}

// BenchmarkLongLine decodes one line of 10 MiB.
func BenchmarkLongLine(b *testing.B) {
	line := longLine(10<<20, strings.Repeat("some output\\n", 1000))
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		d := streamjson.NewDecoder(bytes.NewReader(line), 0)
		if ev, err := d.Next(); err != nil || ev.Kind != streamjson.KindUser {
			b.Fatal(ev.Kind, err)
		}
	}
}

// longLine returns a line of at least size bytes that contains a tool result whose text
// repeats unit.
func longLine(size int, unit string) []byte {
	line := append(make([]byte, 0, size+len(unit)+200), `{"type":"user","message":{"role":"user","content":[{"tool_use_id":"t","type":"tool_result","content":"`...)
	for len(line) < size {
		line = append(line, unit...)
	}
	return append(line, `"}]},"session_id":"s"}`+"\n"...)
}
