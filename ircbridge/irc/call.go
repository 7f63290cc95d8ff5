package irc

// maxAnswer is the maximum number of messages outside batches that are kept as the answer
// to one command without a label.
const maxAnswer = 10_000

// A call waits for the answer to a command.
type call struct {
	answer []Message
	err    error
	done   chan struct{}
}

func (k *call) finish(err error) {
	select {
	case <-k.done:
	default:
		k.err = err
		close(k.done)
	}
}
