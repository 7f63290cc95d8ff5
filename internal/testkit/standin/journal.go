package standin

import (
	"fmt"
	"os"
)

// journal appends a line about the prompt p to the log file, STANDIN_LOG.
func (c *client) journal(what string, p prompt) {
	path := c.getenv("STANDIN_LOG")
	if path == "" {
		return
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		c.complain("standin: " + err.Error())
		return
	}
	defer f.Close()
	if _, err := fmt.Fprintf(f, "%s %s %s %d %s\n", what, c.agent(), p.uuid, os.Getpid(), FirstLine(p.text)); err != nil {
		c.complain("standin: " + err.Error())
	}
}
