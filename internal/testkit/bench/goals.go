package main

// A variant is a benchmark that runs separately. The field bench is its full name,
// including the names of sub-benchmarks; time is a value for -benchtime.
type variant struct {
	pkg, bench, time string
}

// A value is a number that a variant reports: "ns/op", or a unit that the variant defines.
type value struct {
	of   variant
	unit string
}

// A comparison is the kind of a goal.
type comparison int

const (
	speed  comparison = iota // floor/ours, at least the goal: ours reaches at least that share of the floor's speed
	cost                     // ours/floor, at most the goal: ours takes at most that many times as long
	bound                    // only ours, at most the goal, in the unit of ours
	excess                   // ours - floor, at most the goal, in the unit of ours
)

// A goal is a line of the table.
type goal struct {
	what    string
	how     comparison
	floor   value // if how is bound, it is only shown and may have no variant
	ours    value
	is      float64
	inverse bool    // the values are rates, not times, so higher is better
	times   float64 // factor by which the ratio is multiplied; 0 means 1
	linux   bool    // measured only on Linux
	needs   string  // a program without which the line is left out; "" means none
}

// These are the variants, grouped by package.
var (
	deliver1Floor = variant{"dropbox", "BenchmarkDeliver/floor/1", "300ms"}
	deliver1      = variant{"dropbox", "BenchmarkDeliver/ours/1", "300ms"}
	deliver8Floor = variant{"dropbox", "BenchmarkDeliver/floor/8", "300ms"}
	deliver8      = variant{"dropbox", "BenchmarkDeliver/ours/8", "300ms"}
	takeFloor     = variant{"dropbox", "BenchmarkTake/floor", "1500x"}
	take          = variant{"dropbox", "BenchmarkTake/ours", "1500x"}

	wakeFloor    = variant{"swarm", "BenchmarkWake/floor", "1000x"}
	wake         = variant{"swarm", "BenchmarkWake/ours", "1000x"}
	listing      = variant{"swarm", "BenchmarkBacklog/floor/10000", "20x"}
	backlog      = variant{"swarm", "BenchmarkBacklog/ours/10000", "1x"}
	smallBacklog = variant{"swarm", "BenchmarkBacklog/ours/1000", "1x"}

	sendFloor  = variant{"cmd/claude-swarm", "BenchmarkSend/floor", "150x"}
	send       = variant{"cmd/claude-swarm", "BenchmarkSend/ours", "150x"}
	startFloor = variant{"cmd/claude-swarm", "BenchmarkSendToStart/floor", "60x"}
	start      = variant{"cmd/claude-swarm", "BenchmarkSendToStart/ours", "60x"}
	cold       = variant{"cmd/claude-swarm", "BenchmarkSendToReplay/ours/cold", "60x"}
	warm       = variant{"cmd/claude-swarm", "BenchmarkSendToReplay/ours/warm", "60x"}
	turnTime   = variant{"cmd/claude-swarm", "BenchmarkTurn/processor", "60x"}
	turnCalls  = variant{"cmd/claude-swarm", "BenchmarkTurn/calls", "20x"}
	many       = variant{"cmd/claude-swarm", "BenchmarkStart/ours", "1x"}
	idle       = variant{"cmd/claude-swarm", "BenchmarkIdle/ours", "1x"}

	acpFloor = variant{"swarm/runner/acp", "BenchmarkWarmTurn/floor", "300x"}
	acpTurn  = variant{"swarm/runner/acp", "BenchmarkWarmTurn/ours", "300x"}
	acpIdle  = variant{"cmd/claude-swarm", "BenchmarkIdleACP/ours", "1x"}

	mcpStart = variant{"cmd/claude-swarm", "BenchmarkTools", "40x"}

	streamFloor = variant{"streamjson", "BenchmarkStream/all/floor/encoding-json", "300ms"}
	stream      = variant{"streamjson", "BenchmarkStream/all/ours/decode-and-window", "300ms"}
	longLine    = variant{"streamjson", "BenchmarkLongLine", "20x"}

	outFloor     = variant{"ircbridge", "BenchmarkOut/floor", "150x"}
	out          = variant{"ircbridge", "BenchmarkOut/ours", "150x"}
	inFloor      = variant{"ircbridge", "BenchmarkIn/floor", "150x"}
	in           = variant{"ircbridge", "BenchmarkIn/ours", "150x"}
	outRateFloor = variant{"ircbridge", "BenchmarkOutRate/floor", "1x"}
	outRate      = variant{"ircbridge", "BenchmarkOutRate/ours", "1x"}
	inRateFloor  = variant{"ircbridge", "BenchmarkInRate/floor", "1x"}
	inRate       = variant{"ircbridge", "BenchmarkInRate/ours", "1x"}
	onIRC        = variant{"cmd/claude-swarm", "BenchmarkOnIRC", "1x"}

	// This variant does not measure time, so one round is enough.
	firstRequest = variant{"internal/e2e", "BenchmarkContext", "1x"}

	appendFloor = variant{"window", "BenchmarkAppend/floor/copy", "200ms"}
	appendOurs  = variant{"window", "BenchmarkAppend/ours/add-and-evict", "200ms"}
	render      = variant{"window", "BenchmarkRender", "200ms"}
)

// goals contains the lines of the table, in order.
var goals = []goal{
	{what: "deliver, 1 writer", how: speed, floor: value{deliver1Floor, "ns/op"}, ours: value{deliver1, "ns/op"}, is: 0.90},
	{what: "deliver, 8 writers", how: speed, floor: value{deliver8Floor, "ns/op"}, ours: value{deliver8, "ns/op"}, is: 0.90},
	{what: "take", how: speed, floor: value{takeFloor, "ns/op"}, ours: value{take, "ns/op"}, is: 0.70}, // lower because the YAML library parses the front matter
	{what: "wake, median", how: cost, floor: value{wakeFloor, "p50-ns"}, ours: value{wake, "p50-ns"}, is: 1.6, linux: true},
	{what: "wake, 99 of 100", how: cost, floor: value{wakeFloor, "p99-ns"}, ours: value{wake, "p99-ns"}, is: 2, linux: true},
	{what: "send to client start", how: cost, floor: value{startFloor, "p50-ns"}, ours: value{start, "p50-ns"}, is: 1.5, linux: true},
	{what: "warm: send to replay", how: cost, floor: value{cold, "p50-ns"}, ours: value{warm, "p50-ns"}, linux: true},
	{what: "send to prompt", how: cost, floor: value{startFloor, "p50-ns"}, ours: value{cold, "p50-ns"}, linux: true},
	{what: "a turn: processor", how: bound, ours: value{turnTime, "cpu-ns"}, is: 10e6, linux: true},
	{what: "  a turn: syncs", how: bound, ours: value{turnCalls, "syncs"}, is: 10, linux: true, needs: "strace"},
	{what: "  a turn: renames", how: bound, ours: value{turnCalls, "renames"}, is: 6, linux: true, needs: "strace"},
	{what: "  a turn: opened", how: bound, ours: value{turnCalls, "opens"}, linux: true, needs: "strace"},
	{what: "send as a process", how: cost, floor: value{sendFloor, "p50-ns"}, ours: value{send, "p50-ns"}, is: 3, linux: true},
	{what: "a turn over ACP, warm", how: excess, floor: value{acpFloor, "p50-ns"}, ours: value{acpTurn, "p50-ns"}, is: 3e6},
	{what: "50 idle ACP agents", how: bound, ours: value{acpIdle, "MiB"}, is: 40, linux: true},
	{what: "the tool server, start", how: bound, ours: value{mcpStart, "p50-ns"}, is: 50e6, linux: true},
	{what: "  and its memory", how: bound, ours: value{mcpStart, "MiB"}, is: 25, linux: true},
	{what: "10,000 wait: 1st turn", how: bound, floor: value{listing, "ns/op"}, ours: value{backlog, "first-ns"}, is: 50e6},
	{what: "10,000 against 1,000", how: cost, floor: value{smallBacklog, "ns/op"}, ours: value{backlog, "ns/op"}, times: 10, is: 12},
	{what: "decode and window", how: speed, floor: value{streamFloor, "MB/s"}, ours: value{stream, "MB/s"}, inverse: true, is: 4},
	{what: "  allocations a line", how: bound, floor: value{streamFloor, "allocs/line"}, ours: value{stream, "allocs/line"}, is: 2},
	{what: "10 MiB line, memory", how: bound, ours: value{longLine, "B/op"}, is: 30 << 20},
	{what: "window: add and evict", how: speed, floor: value{appendFloor, "MB/s"}, ours: value{appendOurs, "MB/s"}, inverse: true, is: 0.2},
	{what: "window: render 400 KB", how: bound, ours: value{render, "ns/op"}, is: 100e3},
	{what: "file to IRC, median", how: cost, floor: value{outFloor, "p50-ns"}, ours: value{out, "p50-ns"}, is: 3, linux: true},
	{what: "  99 of 100, out", how: cost, floor: value{outFloor, "p99-ns"}, ours: value{out, "p99-ns"}, is: 3, linux: true},
	{what: "IRC to file, median", how: cost, floor: value{inFloor, "p50-ns"}, ours: value{in, "p50-ns"}, is: 3, linux: true},
	{what: "  99 of 100, in", how: cost, floor: value{inFloor, "p99-ns"}, ours: value{in, "p99-ns"}, is: 3, linux: true},
	{what: "files to IRC, rate", how: speed, floor: value{outRateFloor, "lines/s"}, ours: value{outRate, "lines/s"}, is: 0.35, inverse: true, linux: true},
	{what: "IRC to files, rate", how: speed, floor: value{inRateFloor, "lines/s"}, ours: value{inRate, "lines/s"}, is: 1.2, inverse: true, linux: true},
	{what: "bridge in 50 channels", how: bound, ours: value{onIRC, "MiB"}, is: 30, linux: true},
	{what: "daemon with 1 agent", how: bound, ours: value{idle, "MiB"}, is: 25, linux: true},
	{what: "each of 1,000 agents", how: bound, ours: value{idle, "KiB/agent"}, is: 16, linux: true},
	{what: "idle, 1 agent", how: bound, ours: value{idle, "switches/s-1"}, is: 1, linux: true},
	{what: "idle, 1,000 agents", how: bound, ours: value{idle, "switches/s-1000"}, is: 1, linux: true},
	{what: "start 5,000 agents", how: bound, ours: value{many, "again-ns"}, is: 1e9, linux: true},
	{what: "  and 5,000 mailboxes", how: bound, ours: value{many, "new-ns"}, linux: true},
	{what: "context added to the first request", how: bound, ours: value{firstRequest, "tokens"}, is: 2550, linux: true},
}

// variants returns the variants that are needed for the given goals. Each variant appears
// once, and a goal's two variants (floor and ours) are in the same group.
func variants(of []goal) [][]variant {
	var groups [][]variant
	seen := map[variant]bool{}
	for _, g := range of {
		var group []variant
		for _, v := range []variant{g.floor.of, g.ours.of} {
			if v.bench != "" && !seen[v] {
				seen[v] = true
				group = append(group, v)
			}
		}
		if len(group) > 0 {
			groups = append(groups, group)
		}
	}
	return groups
}
