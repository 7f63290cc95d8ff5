package runner

// Steering delivers an urgent message to a running turn. The message is written to the
// client's standard input, and the client reads it with the next tool result. If a
// message arrives after the last tool call, the client begins another turn right after
// this one.
//
// The client repeats the message in its output, which shows that it has read the message.
// A successful result after that shows that the message has been processed.

// A Steer is one message for a running turn.
type Steer struct {
	UUID   string // identifies the message to the client, like the UUID of a prompt
	Prompt string // ends with a paragraph that the caller wrote, like the prompt of a [Turn]
	// Aside means that the message must not begin a turn. The backend lets the turn end
	// even if the client has not read the message, and makes the client drop it if
	// possible.
	Aside bool
}

// Steering delivers messages to a running turn. Only the goroutine of Run or Serve uses
// it, so Next can use everything that belongs to the caller's goroutine.
type Steering struct {
	// Wake receives a value when there may be a message.
	Wake <-chan struct{}
	// Next returns each message once. After that, the backend is responsible for the
	// message. Next is called only while the client can read a message.
	Next func() (Steer, bool)
	// Dropped is called with the UUID of an Aside message that the client has dropped
	// without reading it. It can be nil.
	Dropped func(uuid string)
}
