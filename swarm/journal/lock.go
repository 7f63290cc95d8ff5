package journal

import (
	"errors"

	"github.com/gofrs/flock"
)

// whileLocked runs f while holding the lock at path. It waits while another goroutine or
// process holds the lock.
func whileLocked(path string, f func() error) (err error) {
	lock := flock.New(path, flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	return f()
}
