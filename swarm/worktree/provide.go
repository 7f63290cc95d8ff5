package worktree

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// provide copies and links the files that a new tree needs and git ignores. A file that the project
// does not have, or that the tree already has, is left out. Nothing is written outside the tree,
// even if its branch has links that lead there.
func (t *Trees) provide(tree Tree, r Request) error {
	root, err := os.OpenRoot(t.Path(tree))
	if err != nil {
		return err
	}
	defer root.Close()
	project := below(".", t.top, t.project)
	// Git has no empty folders, and none in which all is ignored.
	for _, dir := range []string{project, below(".", t.top, cmp.Or(r.Cwd, t.project))} {
		if err := root.MkdirAll(dir, 0o777); err != nil {
			return err
		}
	}
	for _, name := range r.Copy {
		if err := t.put(root, project, name, copyAll); err != nil {
			return fmt.Errorf("worktree_copy: %w", err)
		}
	}
	for _, name := range r.Link {
		if err := t.put(root, project, name, link); err != nil {
			return fmt.Errorf("worktree_link: %w", err)
		}
	}
	return nil
}

func (t *Trees) put(root *os.Root, project, name string, how func(root *os.Root, from, to string) error) error {
	if !filepath.IsLocal(name) {
		return fmt.Errorf("%s is not below the project", name)
	}
	from, to := filepath.Join(t.project, name), filepath.Join(project, name)
	if _, err := root.Lstat(to); !exists(from) || err == nil {
		return nil
	}
	if err := root.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	return how(root, from, to)
}

func link(root *os.Root, from, to string) error { return root.Symlink(from, to) }

// copyAll copies a file, a link, or a folder with what is in it.
func copyAll(root *os.Root, from, to string) error {
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
			return root.MkdirAll(dest, info.Mode().Perm()|0o700)
		case e.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return root.Symlink(target, dest)
		case !e.Type().IsRegular():
			return nil
		}
		return copyFile(root, path, dest, info.Mode().Perm())
	})
}

func copyFile(root *os.Root, from, to string, mode fs.FileMode) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	f, err := root.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
