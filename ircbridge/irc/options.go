package irc

import "time"

// A Channel is a channel that a [Client] should be in.
type Channel struct{ Name, Key string }

// Options are the settings of a [Client] that its [Config] does not contain.
type Options struct {
	Channels []Channel
	Backoff  Backoff // the pauses between connections, and between the first attempts to join a channel
	Memory   Memory  // nil means a [RAM]

	// RejoinAfter are the pauses between later attempts to join a channel; the last pause
	// repeats. nil means 1, 2, 5 and 10 minutes.
	RejoinAfter []time.Duration
}

// Status is the state of a client.
type Status struct {
	Up     bool
	Err    error             // why the client is not up; nil while it is up or before its first attempt
	Retry  time.Time         // the time of the next attempt; zero while the client is up
	Tries  int               // the number of attempts to connect
	Conn   State             // the connection's state; its Phase is Closed if there is no connection
	Failed map[string]string // channels that do not let this client in, and why
}
