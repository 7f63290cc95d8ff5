// Package execfile writes programs that tests then start.
//
// A process that another goroutine starts meanwhile has the new file open for writing until
// it executes its own program, and until then the system does not start the new one ("text
// file busy"). So no process starts while a program is being written.
package execfile

import (
	"os"
	"syscall"
)

// Write writes a program, with mode 0700. The caller must not hold [syscall.ForkLock].
func Write(path string, text []byte) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, text, 0o700)
}
