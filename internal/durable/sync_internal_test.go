package durable

import (
	"errors"
	"os"
	"syscall"
	"testing"
)

// Without a hook, sync calls the kernel, which refuses to sync a pipe.
func TestSyncAsksTheKernel(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if err := (Files{}).sync(w); !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		t.Errorf("sync of a pipe = %v", err)
	}
}
