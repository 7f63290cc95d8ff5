package worktree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// provide copies and links the files that a new tree needs and git ignores. A file that the project
// does not have, or that the tree already has, is left out.
func (t *Trees) provide(tree Tree, s Settings) error {
	root := below(t.Path(tree), t.top, t.project)
	for _, name := range s.Copy {
		if err := t.put(root, name, copyAll); err != nil {
			return fmt.Errorf("worktree_copy: %w", err)
		}
	}
	for _, name := range s.Link {
		if err := t.put(root, name, os.Symlink); err != nil {
			return fmt.Errorf("worktree_link: %w", err)
		}
	}
	return nil
}

func (t *Trees) put(root, name string, how func(from, to string) error) error {
	if !filepath.IsLocal(name) {
		return fmt.Errorf("%s is not below the project", name)
	}
	from, to := filepath.Join(t.project, name), filepath.Join(root, name)
	if !exists(from) || exists(to) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	return how(from, to)
}

// copyAll copies a file, a link, or a folder with what is in it.
func copyAll(from, to string) error {
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		dest := to + strings.TrimPrefix(path, from)
		info, err := e.Info()
		if err != nil {
			return err
		}
		switch {
		case e.IsDir():
			return os.MkdirAll(dest, info.Mode().Perm()|0o700)
		case e.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(target, dest)
		case !e.Type().IsRegular():
			return nil
		}
		return copyFile(path, dest, info.Mode().Perm())
	})
}

func copyFile(from, to string, mode fs.FileMode) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
