package standin

import (
	"bufio"
	"encoding/json"
	"io"
	"strings"
	"sync"
)

// A prompt is a message from stdin or the command line.
type prompt struct {
	seq     int // 1 for the first prompt of the process
	uuid    string
	named   bool // the uuid was part of the message
	text    string
	content json.RawMessage // as received
	at      string          // arrival time, for the replay line
}

// inputLine is a line of standard input in stream-json format.
type inputLine struct {
	Type      string  `json:"type"`
	UUID      string  `json:"uuid"`
	Message   message `json:"message"`
	RequestID string  `json:"request_id"`
	Request   struct {
		Subtype  string `json:"subtype"`
		Snapshot *bool  `json:"systemPromptSnapshot"`
	} `json:"request"`
}

// An inbox contains the waiting prompts. The goroutine that reads stdin adds them, and
// the goroutine that runs the turns removes them.
type inbox struct {
	mu     sync.Mutex
	items  []prompt
	last   int // seq of the newest prompt
	cut    int // prompts up to this seq have been interrupted
	closed bool
	bell   chan struct{} // signals that there may be new prompts; the capacity is one
}

func newInbox() *inbox { return &inbox{bell: make(chan struct{}, 1)} }

func (b *inbox) put(p prompt) {
	b.mu.Lock()
	b.last++
	p.seq = b.last
	b.items = append(b.items, p)
	b.mu.Unlock()
	b.wake()
}

// cutOff marks all prompts so far as interrupted, including those that are not in a turn
// yet. This way, an interrupt that arrives before its turn begins is not lost.
func (b *inbox) cutOff() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cut = b.last
}

func (b *inbox) isCut(p prompt) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return p.seq <= b.cut
}

// close ends the input.
func (b *inbox) close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.wake()
}

func (b *inbox) wake() {
	select {
	case b.bell <- struct{}{}:
	default:
	}
}

// drain returns the waiting prompts without waiting for more.
func (b *inbox) drain() (all []prompt, closed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	all, b.items = b.items, nil
	return all, b.closed
}

// wait returns the waiting prompts as soon as there is at least one, or nothing at the
// end of the input.
func (b *inbox) wait() []prompt {
	for {
		all, closed := b.drain()
		if len(all) > 0 || closed {
			return all
		}
		<-b.bell
	}
}

// readLines reads stdin until its end. As in the real program, lines of an unknown type
// are ignored, and a line that is not JSON ends the process.
func (c *client) readLines(stdin io.Reader) {
	r := bufio.NewReader(stdin)
	for {
		line, err := r.ReadString('\n')
		if text := strings.TrimSpace(line); text != "" {
			if !c.readLine(text) {
				return
			}
		}
		if err != nil {
			c.inbox.close()
			return
		}
	}
}

func (c *client) readLine(line string) bool {
	var in inputLine
	if err := json.Unmarshal([]byte(line), &in); err != nil {
		c.complain("Error parsing streaming input line: " + line + ": " + err.Error())
		c.end(1)
		return false
	}
	switch in.Type {
	case "user":
		p := prompt{uuid: in.UUID, named: in.UUID != "", content: in.Message.Content, text: plainText(in.Message.Content), at: timestamp()}
		if p.uuid == "" {
			p.uuid = newUUID()
		}
		if !c.heard[p.uuid] && !c.deaf.Load() && !asksForEarlyEnd(p) {
			c.heard[p.uuid] = true
			c.lifecycle("queued", p)
		}
		c.inbox.put(p)
	case "control_request":
		c.control(&in)
	}
	return true
}

// plainText returns the text of a content field, which is a string or a list of text
// blocks.
func plainText(content json.RawMessage) string {
	var s string
	if json.Unmarshal(content, &s) == nil {
		return s
	}
	var blocks []block
	if json.Unmarshal(content, &blocks) != nil {
		return ""
	}
	var parts []string
	for _, b := range blocks {
		if b.Type == "text" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}
