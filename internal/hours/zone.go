package hours

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// zones caches the loaded zones, so a name always yields the same pointer.
var zones sync.Map

// Zone returns the zone with the given name in the IANA database, such as Europe/Berlin; ""
// means the machine's zone. The error is an [*Error], which lists the known zones if the
// name is unknown, or a [*NoDatabaseError].
func Zone(name string) (*time.Location, error) {
	if name == "" {
		return time.Local, nil
	}
	if known, ok := zones.Load(name); ok {
		return known.(*time.Location), nil
	}
	zone, err := time.LoadLocation(name)
	if err == nil && name != "Local" {
		known, _ := zones.LoadOrStore(name, zone)
		return known.(*time.Location), nil
	}
	if _, err := time.LoadLocation("Europe/London"); err != nil {
		return nil, &NoDatabaseError{Zone: name}
	}
	e := wrong("", "%q is not a time zone", name)
	e.Word, e.Known = name, names()
	if len(e.Known) == 0 {
		e.Try = "Europe/Berlin"
	}
	return nil, e
}

// A NoDatabaseError reports that a zone cannot be looked up because this machine has no
// time zone database. The zone name itself may be correct.
type NoDatabaseError struct{ Zone string }

func (e *NoDatabaseError) Error() string {
	return "the zone " + e.Zone + " cannot be looked up: this machine has no time zone database"
}

// Hint says how to install a database.
func (e *NoDatabaseError) Hint() string {
	return "install the package tzdata (apt-get install tzdata, apk add tzdata, dnf install tzdata), or set ZONEINFO to a copy of it"
}

// folders lists the usual folders of the time zone database.
var folders = []string{"/usr/share/zoneinfo", "/usr/share/lib/zoneinfo", "/usr/lib/locale/TZ", "/etc/zoneinfo"}

// names lists the zones that this machine has. It is slow, because it walks a folder of
// several hundred files.
func names() (all []string) {
	for _, dir := range append([]string{os.Getenv("ZONEINFO")}, folders...) {
		if info, err := os.Stat(dir); dir == "" || err != nil || !info.IsDir() {
			continue
		}
		root, err := filepath.EvalSymlinks(dir) // WalkDir does not follow a symbolic link at its root
		if err != nil {
			continue
		}
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			name, _ := filepath.Rel(root, path)
			switch {
			case err != nil:
				return nil // the zones that can be read are enough for a suggestion
			case d.IsDir() && (name == "posix" || name == "right"):
				return filepath.SkipDir
			case !d.IsDir() && name[0] >= 'A' && name[0] <= 'Z' && !strings.Contains(name, "."):
				all = append(all, name)
			}
			return nil
		})
		if len(all) > 0 {
			return all
		}
	}
	return nil
}
