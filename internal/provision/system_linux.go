package provision

import (
	"errors"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// watches checks that the kernel allows one more program to watch enough folders.
func (e *checkup) watches() {
	const name = "watches"
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	if errors.Is(err, unix.EMFILE) {
		e.warn(name, "sysctl fs.inotify.max_user_instances=512",
			"no inotify instance is left (maximum: %s): mailboxes are checked only every 30 s", limit("max_user_instances"))
		return
	} else if err != nil {
		e.warn(name, "", "inotify: %v", err)
		return
	}
	unix.Close(fd)
	// The daemon watches two folders of each mailbox, including the mailboxes of the lead
	// and the bridge. It also watches the store's folder and the turns' folder. Other
	// programs may need the same number of watches.
	need := 2 * (2*(len(e.file.Agents)+2) + 2)
	if have, err := strconv.Atoi(limit("max_user_watches")); err == nil && have < need {
		e.warn(name, "sysctl fs.inotify.max_user_watches="+strconv.Itoa(max(65536, 2*need)),
			"%d folders can be watched, %d may be needed", have, need)
		return
	}
	e.good(name, "maximum number of watched folders: %s", limit("max_user_watches"))
}

func limit(name string) string {
	data, err := os.ReadFile("/proc/sys/fs/inotify/" + name)
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(data))
}

// processesWith calls f for each process that was started with entry in its environment,
// and passes that environment to f. It skips this process.
func processesWith(entry string, f func(pid int, environ []string)) {
	dirs, err := os.ReadDir("/proc")
	if err != nil {
		return
	}
	for _, d := range dirs {
		pid, err := strconv.Atoi(d.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		data, err := os.ReadFile("/proc/" + d.Name() + "/environ")
		if err != nil {
			continue // the process belongs to another user or has ended
		}
		environ := strings.Split(strings.TrimRight(string(data), "\x00"), "\x00")
		for _, have := range environ {
			if have == entry {
				f(pid, environ)
				break
			}
		}
	}
}
