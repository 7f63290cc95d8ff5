package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/testkit/acptest"
)

// A line is one message of a recording.
type line struct {
	TMS int64  `json:"t_ms"`
	Dir string `json:"dir"`
	Msg any    `json:"msg"`
}

// A dialogue is an exchange of messages with a client, one process at a time. Its methods
// send messages and wait for answers; they do not check the content of an answer.
type dialogue struct {
	home    *acptest.Home
	session string

	cmd     *exec.Cmd
	in      io.WriteCloser
	read    chan struct{} // closed at the end of the client's output
	servers []any
	began   time.Time
	next    int

	mu     sync.Mutex
	lines  []line
	decide string   // the kind of option to choose when answering questions; "" leaves questions open
	asked  []any    // ids of unanswered questions
	odd    []string // unexpected events, for the person who makes the recordings
}

// start starts the client.
func (d *dialogue) start(ctx context.Context) error {
	command, env, servers, err := d.home.Speak(acptest.Tools{
		Name: "dead-drop", Command: exe(), Args: []string{}, Env: map[string]string{toolsVar: "1"},
	})
	if err != nil {
		return err
	}
	d.servers, d.lines, d.asked, d.next = servers, nil, nil, 0
	d.cmd = exec.CommandContext(ctx, command[0], command[1:]...)
	d.cmd.Dir, d.cmd.Env = d.home.Work, append(d.home.Env, env...)
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if d.in, err = d.cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := d.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	d.began, d.read = time.Now(), make(chan struct{})
	if err := d.cmd.Start(); err != nil {
		return err
	}
	go func() { // [dialogue.end] waits for this goroutine
		defer close(d.read)
		d.follow(out)
	}()
	return nil
}

// follow reads the client's messages until its output ends.
func (d *dialogue) follow(out io.Reader) {
	r := bufio.NewReaderSize(out, 1<<20)
	for {
		text, err := r.ReadBytes('\n')
		if err != nil {
			return
		}
		var msg map[string]any
		if err := json.Unmarshal(text, &msg); err != nil {
			d.say("a line is not JSON")
			continue
		}
		d.mu.Lock()
		d.lines = append(d.lines, line{time.Since(d.began).Milliseconds(), "agent", msg})
		d.mu.Unlock()
		if msg["method"] != nil && msg["id"] != nil {
			d.question(msg)
		}
	}
}

// question answers a request from the client.
func (d *dialogue) question(msg map[string]any) {
	if msg["method"] != "session/request_permission" {
		d.send(object{"jsonrpc": "2.0", "id": msg["id"], "error": object{"code": -32601, "message": "Method not found"}})
		return
	}
	params, _ := msg["params"].(map[string]any)
	options, _ := params["options"].([]any)
	d.mu.Lock()
	decide := d.decide
	if decide == "" {
		d.asked = append(d.asked, msg["id"])
	}
	d.mu.Unlock()
	for _, o := range options {
		if option, ok := o.(map[string]any); ok && option["kind"] == decide {
			d.send(object{"jsonrpc": "2.0", "id": msg["id"], "result": object{"outcome": object{"outcome": "selected", "optionId": option["optionId"]}}})
			return
		}
	}
}

type object = map[string]any

// say records an unexpected event.
func (d *dialogue) say(text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.odd = append(d.odd, text)
}

// permit sets the kind of option to choose when answering the next questions; with "",
// they stay open.
func (d *dialogue) permit(kind string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.decide = kind
}

func (d *dialogue) send(msg object) {
	data, err := json.Marshal(msg)
	if err != nil {
		panic(err) // cannot fail, because this program creates all messages
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, line{time.Since(d.began).Milliseconds(), "client", msg})
	if _, err := d.in.Write(append(data, '\n')); err != nil {
		d.odd = append(d.odd, err.Error())
	}
}

// request sends a request and returns its id.
func (d *dialogue) request(method string, params object) string {
	d.next++
	id := fmt.Sprintf("%s-%d", strings.TrimPrefix(method, "session/"), d.next)
	d.send(object{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	return id
}

// call sends a request and waits for its answer.
func (d *dialogue) call(method string, params object) map[string]any {
	id := d.request(method, params)
	if !d.await(id, 100*time.Second) {
		d.say("no answer to " + id)
	}
	return d.answer(id)
}

// answer returns the answer to the request id, or nil if none has arrived.
func (d *dialogue) answer(id string) map[string]any {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, l := range d.lines {
		msg, _ := l.Msg.(map[string]any)
		if l.Dir == "agent" && msg["method"] == nil && msg["id"] == id {
			return msg
		}
	}
	return nil
}

// until waits until ok returns true. It returns false if the time limit expires or the
// client exits first.
func (d *dialogue) until(limit time.Duration, ok func() bool) bool {
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if ok() {
			return true
		}
		select {
		case <-d.read:
			return ok()
		default:
		}
	}
	return ok()
}

func (d *dialogue) await(id string, limit time.Duration) bool {
	return d.until(limit, func() bool { return d.answer(id) != nil })
}

// seen waits until a message from the client contains text.
func (d *dialogue) seen(text string) {
	if !d.until(30*time.Second, func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		for _, l := range d.lines {
			if l.Dir == "agent" {
				if data, _ := json.Marshal(l.Msg); strings.Contains(string(data), text) {
					return true
				}
			}
		}
		return false
	}) {
		d.say("the client never said " + text)
	}
}

func (d *dialogue) initialize() {
	d.call("initialize", object{
		"protocolVersion":    1,
		"clientCapabilities": object{"fs": object{"readTextFile": false, "writeTextFile": false}, "terminal": false},
		"clientInfo":         object{"name": "claude-swarm", "version": "0"},
	})
}

// open creates a session.
func (d *dialogue) open() {
	d.initialize()
	answer := d.call("session/new", object{"cwd": d.home.Work, "mcpServers": d.servers})
	result, _ := answer["result"].(map[string]any)
	d.session, _ = result["sessionId"].(string)
	d.choose()
}

// choose sets the model if the configuration does not.
func (d *dialogue) choose() {
	if d.home.Client.Name == "cline" {
		d.call("session/set_model", object{"sessionId": d.session, "modelId": d.home.Model})
	}
}

// takeUp continues the session of an earlier process.
func (d *dialogue) takeUp(method string) {
	if d.next == 0 {
		d.initialize()
	}
	answer := d.call(method, object{"sessionId": d.session, "cwd": d.home.Work, "mcpServers": d.servers})
	if answer["error"] == nil {
		time.Sleep(time.Second) // updates can arrive after the answer
		d.choose()
	}
}

// begin sends a prompt.
func (d *dialogue) begin(text string) string {
	return d.request("session/prompt", object{"sessionId": d.session, "prompt": []any{object{"type": "text", "text": text}}})
}

func (d *dialogue) prompt(text string) {
	if id := d.begin(text); !d.await(id, 100*time.Second) {
		d.say("no answer to " + id)
	}
}

// cancel answers the open questions and ends the turn.
func (d *dialogue) cancel() {
	d.mu.Lock()
	open := d.asked
	d.asked = nil
	d.mu.Unlock()
	for _, id := range open {
		d.send(object{"jsonrpc": "2.0", "id": id, "result": object{"outcome": object{"outcome": "cancelled"}}})
	}
	d.send(object{"jsonrpc": "2.0", "method": "session/cancel", "params": object{"sessionId": d.session}})
}

// end closes the client's input, waits up to 3 seconds for the client to exit, and kills
// the client's process group.
func (d *dialogue) end() {
	if d.cmd == nil {
		return
	}
	time.Sleep(200 * time.Millisecond) // leaves time for updates that arrive after the last answer
	d.in.Close()
	select {
	case <-d.read:
	case <-time.After(3 * time.Second):
	}
	syscall.Kill(-d.cmd.Process.Pid, syscall.SIGKILL)
	<-d.read
	d.cmd.Wait()
	d.cmd = nil
}
