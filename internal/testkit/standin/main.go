package standin

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Main runs the stand-in. Its caller must pass the result to os.Exit. args are the
// arguments without the program's name; environ has the form of [os.Environ]. While Main
// runs, it handles SIGINT, SIGTERM and SIGHUP. When it returns, the goroutines that read
// stdin and run the turn may still be running.
func Main(args, environ []string, stdin io.Reader, stdout, stderr io.Writer) int {
	env := environment(environ)
	c := &client{
		environ: environ,
		getenv:  func(key string) string { return env[key] },
		stderr:  stderr,
		out:     &printer{w: stdout, format: "text", silent: env["STANDIN_SILENT"] != ""},
		inbox:   newInbox(),
		exit:    make(chan int, 1),
		born:    time.Now(),
		models:  map[string]*modelUsage{},
		since:   map[string]*modelUsage{},
	}
	var err error
	if c.release, err = releaseOf(env["STANDIN_VERSION"]); err != nil {
		c.complain(err.Error())
		return 2
	}
	if env["STANDIN_UNBORN"] != "" {
		c.complain("standin: unborn, as STANDIN_UNBORN says")
		return 1
	}
	if delay := env["STANDIN_DELAY"]; delay != "" {
		if c.delay, err = parseDuration(delay); err != nil {
			c.complain("standin: STANDIN_DELAY: " + err.Error())
			return 2
		}
	}
	o, err := parseOptions(args, c.release)
	if err != nil {
		c.complain(err.Error())
		return 1
	}
	switch {
	case o.version:
		io.WriteString(stdout, string(c.release)+suffix+"\n")
		return 0
	case o.help:
		c.release.help(stdout)
		return 0
	}
	if err := c.lock(); err != nil {
		return c.refused(err)
	}
	if err := c.open(o); err != nil {
		return c.refused(err)
	}

	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	if o.input == "stream-json" {
		go c.readLines(stdin)
	} else if err := c.readText(stdin); err != nil {
		return c.refused(err)
	}
	go c.serve(context.Background())
	for {
		select {
		case code := <-c.exit:
			return code
		case s := <-signals:
			if c.deaf.Load() {
				c.journal("unheard", prompt{uuid: "-", text: s.String()})
				continue
			}
			switch s {
			case syscall.SIGTERM:
				return 143
			case syscall.SIGHUP:
				return 129
			}
			c.leaving.Store(true)
			c.interrupt()
		}
	}
}

// A client is one process of the stand-in. The fields above the line are set before the
// turns begin, are safe for concurrent use, or are used only by the goroutine that reads
// stdin. The fields below the line are used only by the goroutine that runs the turns.
type client struct {
	o            *options
	release      release
	settings     settings
	environ      []string
	getenv       func(string) string
	cwd          string
	mcp          []string // names of the MCP servers
	asked        int      // number of mcp_status requests so far; used only by the goroutine that reads stdin
	stderr       io.Writer
	out          *printer
	inbox        *inbox
	born         time.Time
	exit         chan int               // the exit status; only the first one is used
	delay        time.Duration          // delay before each result
	deaf         atomic.Bool            // @hang and @spin ignore all signals
	leaving      atomic.Bool            // set by SIGINT: the process exits at the end of the turn
	runningTotal atomic.Uint64          // the bits of the running total in US dollars, for the goroutine that reads stdin
	noSnapshot   atomic.Bool            // the system prompt of an earlier process does not apply
	heard        map[string]bool        // uuids of prompts; used only by the goroutine that reads stdin
	id           atomic.Pointer[string] // id of the session, for the goroutine that reads stdin

	mu     sync.Mutex
	cancel context.CancelFunc // ends the running turn; nil between turns

	// ----
	sess    *session
	model   string
	started bool // the SessionStart hooks have run
	linger  time.Duration
	bad     bool // the last result was an error
	cost    float64
	cap     spendingCap
	apiTime time.Duration
	models  map[string]*modelUsage
	since   map[string]*modelUsage // usage since the last result
	results int
	own     map[string]bool // uuids of the prompts that this process has run
}

// environment converts the result of [os.Environ] to a map; if a variable occurs twice,
// the last value is used.
func environment(environ []string) map[string]string {
	env := make(map[string]string, len(environ))
	for _, kv := range environ {
		if key, value, ok := strings.Cut(kv, "="); ok {
			env[key] = value
		}
	}
	return env
}

// open reads the settings, files and session that are given on the command line.
func (c *client) open(o *options) (err error) {
	c.o, c.out.format = o, o.output
	if c.cwd, err = os.Getwd(); err != nil {
		return err
	}
	if c.settings, err = readSettings(o.settings); err != nil {
		return err
	}
	if o.systemFile != "" {
		data, err := os.ReadFile(o.systemFile)
		if err != nil {
			return complain("Error: Append system prompt file not found: %s", o.systemFile)
		}
		o.system = string(data)
	}
	if c.mcp, err = readServers(o.mcp); err != nil {
		return err
	}
	if o.mode == "bypassPermissions" && os.Geteuid() == 0 && c.getenv("IS_SANDBOX") != "1" {
		return complain("--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons")
	}
	c.sess, err = openSession(o, sessionDir(c.getenv, c.cwd))
	if err != nil {
		return err
	}
	c.id.Store(&c.sess.id)
	c.noSnapshot.Store(o.noSnapshot)
	c.heard, c.own = maps.Clone(c.sess.known), map[string]bool{}
	c.takeUp()
	c.tellTotal(c.cost)
	c.cap = spendingCap{usd: o.budget, before: c.cost}
	c.model = c.release.modelName(o.model)
	if o.model == "" && c.sess.model != "" {
		c.model = c.sess.model
	}
	return nil
}

// refused prints to stderr why the client does not start. If the session does not exist,
// it also reports this in the stream, as the real program does.
func (c *client) refused(err error) int {
	if missing, ok := errors.AsType[*missingError](err); ok {
		c.out.line(&resultLine{
			Type: "result", Subtype: "error_during_execution", IsError: true, SessionID: missing.id,
			Usage:  resultUsage{Tier: "standard", Iterations: []any{}, Speed: "standard"},
			Models: map[string]*modelUsage{}, Denials: []denial{}, UUID: newUUID(), Errors: []string{missing.Error()},
			resultMore: c.more(),
		})
	}
	c.complain(err.Error())
	return 1
}

// readText reads the single prompt of --input-format text: the arguments, then all of
// stdin.
func (c *client) readText(stdin io.Reader) error {
	piped, err := io.ReadAll(stdin)
	if err != nil {
		return err
	}
	parts := c.o.prompt
	if s := strings.TrimRight(string(piped), "\n"); s != "" {
		parts = append(parts, s)
	}
	all := strings.Join(parts, "\n")
	if all == "" {
		return complain("Error: Input must be provided either through stdin or as a prompt argument when using --print")
	}
	c.inbox.put(prompt{uuid: newUUID(), text: all, content: encode(all), at: timestamp()})
	c.inbox.close()
	return nil
}

// serve runs turns one after another until the input ends.
func (c *client) serve(ctx context.Context) {
	for {
		prompts := c.inbox.wait()
		if len(prompts) == 0 {
			break
		}
		c.turn(ctx, prompts)
		if c.leaving.Load() {
			// In this case, the real program exits with 0 if its input is a stream.
			c.end(boolStatus(c.bad && c.o.input == "text"))
			return
		}
	}
	pause(ctx, c.linger)
	c.end(boolStatus(c.bad))
}

func boolStatus(bad bool) int {
	if bad {
		return 1
	}
	return 0
}

// end makes the process exit with code. A caller in the middle of a turn must then block
// with [client.stay].
func (c *client) end(code int) {
	select {
	case c.exit <- code:
	default: // another goroutine has already set the exit status
	}
}

// stay blocks until the process exits.
func (c *client) stay() { select {} }

// interrupt ends the running turn, and the turns of waiting prompts. Between two turns,
// SIGINT ends the process.
func (c *client) interrupt() {
	c.inbox.cutOff()
	c.mu.Lock()
	cancel := c.cancel
	c.mu.Unlock()
	if cancel != nil {
		cancel()
	} else if c.leaving.Load() {
		c.end(boolStatus(c.bad && c.o.input == "text"))
	}
}

func (c *client) complain(text string) { io.WriteString(c.stderr, text+"\n") }

// number reads a whole number from the environment. It returns def if the variable is not a
// whole number.
func (c *client) number(key string, def int) int {
	if n, err := strconv.Atoi(c.getenv(key)); err == nil {
		return n
	}
	return def
}

// pause waits for d. It returns false if ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
