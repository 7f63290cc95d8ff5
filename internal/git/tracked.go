package git

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
)

// Tracked lists the files below a folder that are in git's index. Each path begins with
// the folder's name. If git is not installed, or if the folder is not in a working tree,
// the list is empty. The error is an [*OwnerError] or another error from git.
func Tracked(ctx context.Context, environ []string, folder string) ([]string, error) {
	dir, name := filepath.Split(filepath.Clean(folder))
	g, err := Find(ctx, "", environ, dir)
	if errors.Is(err, ErrNoGit) || errors.Is(err, ErrNoRepository) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	out, err := output(g.raw(ctx, dir, "ls-files", "-z", "--", name))
	if err != nil {
		return nil, err
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 }), nil
}
