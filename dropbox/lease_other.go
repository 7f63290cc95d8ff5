//go:build !linux

package dropbox

import "golang.org/x/sys/unix"

// isAwaited reports false, because this system has no leases.
func isAwaited(int) bool { return false }

// lease reports that this system has no leases.
func lease(int) error { return unix.ENOSYS }
