package runner

import (
	"os"
	"path/filepath"
	"strings"
)

// mostLinks limits how many dangling links ResolveLinks follows.
const mostLinks = 40

// ResolveLinks returns the file to which an absolute path leads, although its last parts
// may not exist. A link to a file that does not exist counts too, because a write through
// it creates the file. The path need not be clean: a .. after a link leads to the folder
// above the one to which the link leads.
func ResolveLinks(p string) string {
	rest, links := "", 0
	for at := p; ; {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		slash := strings.LastIndexByte(at, '/')
		if slash <= 0 {
			return filepath.Clean(p)
		}
		if to, err := os.Readlink(at); err == nil && links < mostLinks {
			links++
			if !filepath.IsAbs(to) {
				to = at[:slash] + "/" + to
			}
			at = to
			continue
		}
		at, rest = at[:slash], filepath.Join(at[slash+1:], rest)
	}
}
