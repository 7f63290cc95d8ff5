package mcpserver

import (
	"errors"
	"fmt"

	"github.com/claude-swarm/claude-swarm/internal/client"
)

// checkBody returns an error that describes what is wrong with a body, or nil. tooLong is
// the advice for a body that is too long.
func checkBody(body []byte, most int, tooLong string) error {
	switch flaw, at := client.FlawOf(body, most); flaw {
	case client.Empty:
		return fmt.Errorf("the text is empty")
	case client.HasNUL:
		return fmt.Errorf("the text has a NUL byte, at byte %d", at+1)
	case client.NotUTF8:
		return fmt.Errorf("the text is not UTF-8, at byte %d", at+1)
	case client.TooLong:
		return fmt.Errorf("the text has %d bytes, but the maximum is %d; %s", len(body), most, tooLong)
	}
	return nil
}

// withNext adds the caller's next step to a refusal.
func withNext(err error) error {
	if refused, ok := errors.AsType[*client.RefusedError](err); ok {
		return fmt.Errorf("%w; to do: %s", err, refused.Verdict.Next)
	}
	if _, ok := errors.AsType[*client.StaysError](err); ok {
		return fmt.Errorf("%w; to do: nothing, because lines there wake you only if they name you. irc_part leaves channels that irc_join has joined", err)
	}
	return err
}
