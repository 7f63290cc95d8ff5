package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// exclude makes git ignore the folder of the trees, with a line in the repository's
// info/exclude, which no commit contains. The caller holds the mutex.
func (t *Trees) exclude(ctx context.Context) error {
	path, err := t.gitPath(ctx, "info/exclude")
	if err != nil {
		return err
	}
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	line := ExcludeLine(t.repo.Prefix)
	if slices.Contains(strings.Split(string(data), "\n"), line) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	if len(data) > 0 && !strings.HasSuffix(string(data), "\n") {
		line = "\n" + line
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line + "\n")
	return errors.Join(err, f.Close())
}

// ExcludeLine returns the line in info/exclude that makes git ignore the folder of the trees.
// prefix is [git.Repo].Prefix of the project.
func ExcludeLine(prefix string) string {
	escaped := strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(prefix)
	return "/" + escaped + folder + "/"
}
