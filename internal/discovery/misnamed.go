package discovery

import (
	"os"
	"path/filepath"
	"strings"
)

// Misnamed returns the path of a file in a folder that is probably meant as the configuration
// but has a slightly different name, such as claude-swarm.yml. It returns "" if the folder has no
// such file.
func Misnamed(dir string) string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	for _, e := range entries {
		if e.Name() != ConfigName && !e.IsDir() && meant(e.Name()) == meant(ConfigName) {
			return filepath.Join(dir, e.Name())
		}
	}
	return ""
}

// MisnamedAbove is like [Misnamed], but also searches the folders above.
func MisnamedAbove(dir string) string {
	for ; ; dir = filepath.Dir(dir) {
		if path := Misnamed(dir); path != "" || dir == filepath.Dir(dir) {
			return path
		}
	}
}

// meant removes the differences between a name and similar ones.
func meant(name string) string {
	name = strings.TrimSuffix(strings.ToLower(name), ".txt")
	if base, ok := strings.CutSuffix(name, ".yml"); ok {
		name = base + ".yaml"
	}
	return strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.TrimPrefix(name, "."))
}
