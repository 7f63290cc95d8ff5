package dropbox

import (
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// Sizes of the buffer for the names in a folder, in bytes.
const (
	firstNames = 32 << 10 // the names of about 500 messages
	mostNames  = 8 << 20  // the names of about 130,000 messages
	mostName   = 19 + 256 // the longest entry; see getdents64(2)
)

// mostReads is the maximum number of times that namesIn reads a folder to get a
// consistent snapshot of its names.
const mostReads = 5

// nameBuffers keeps the buffers of earlier listings, so that the next listing of a large
// folder begins with a buffer that is large enough.
var nameBuffers = sync.Pool{New: func() any {
	buf := make([]byte, firstNames)
	return &buf
}}

// namesIn returns a consistent snapshot of the names in an open folder, if the kernel
// allows it.
//
// On a local file system, Linux locks a folder during each call of getdents64(2) and
// during each change of a name in the folder. A single call that reaches the end
// therefore returns a consistent snapshot. If a second call returns no names, the first
// one reached the end. namesIn reads the folder again if the buffer was too small, if a
// signal interrupted the call, or if a name was added between the two calls.
//
// The result is not a consistent snapshot in three cases: after five such reads, for a
// folder whose names need more than 8 MiB, and on a network or user-space file system
// that returns few names at a time. In these cases a name may be missing although a name
// that was added later is listed.
func namesIn(folder *os.File) ([]string, error) {
	buf := nameBuffers.Get().(*[]byte)
	defer nameBuffers.Put(buf)
	for reads := 1; ; {
		n, err := readDirent(folder, *buf)
		if err != nil {
			return nil, err
		}
		filled := n > len(*buf)-mostName
		if filled && len(*buf) < mostNames {
			*buf = make([]byte, min(8*len(*buf), mostNames))
		} else {
			names, once, err := readRest(folder, *buf, n)
			if err != nil || once || filled || reads == mostReads {
				return names, err
			}
			reads++
		}
		if _, err := folder.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
	}
}

// readRest returns the names in the n bytes that were read and the remaining names in the
// folder. once is true if no names remained.
func readRest(folder *os.File, buf []byte, n int) (names []string, once bool, err error) {
	for once = true; n > 0; once = once && n == 0 {
		_, _, names = unix.ParseDirent(buf[:n], -1, names)
		if n, err = readDirent(folder, buf); err != nil {
			return nil, false, err
		}
	}
	return names, once, nil
}

// readDirent reads as many of the next names in a folder as fit into buf. At the end of
// the folder, n is 0.
func readDirent(folder *os.File, buf []byte) (n int, err error) {
	err = retryEINTR(func() (err error) {
		n, err = unix.ReadDirent(int(folder.Fd()), buf)
		return err
	})
	return n, pathError("list", folder.Name(), err)
}
