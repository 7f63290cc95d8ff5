package main

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

//go:embed nfpm.yaml
var nfpmConfig []byte

// system makes the packages of Linux distributions, deb and rpm.
func (r *release) system(ctx context.Context, p platform, stem string, files []file) error {
	stage := filepath.Join(r.scratch, "stage-"+p.arch)
	if err := stageFiles(stage, files); err != nil {
		return err
	}
	config := filepath.Join(r.scratch, "nfpm.yaml")
	if err := os.WriteFile(config, nfpmConfig, 0o644); err != nil {
		return err
	}
	for _, kind := range []string{"deb", "rpm"} {
		made := filepath.Join(r.scratch, stem+"."+kind)
		cmd := exec.CommandContext(ctx, r.nfpm, "package", "--config", config, "--packager", kind, "--target", made)
		cmd.Env = append(os.Environ(), "STAGE="+stage, "ARCH="+p.arch, "VERSION="+r.version,
			"SOURCE_DATE_EPOCH="+strconv.FormatInt(r.time.Unix(), 10))
		if said, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("nfpm: %s for %s: %w\n%s", kind, p, err, said)
		}
		data, err := os.ReadFile(made)
		if err != nil {
			return err
		}
		if err := r.add(stem+"."+kind, data); err != nil {
			return err
		}
	}
	return os.RemoveAll(stage)
}

// stageFiles writes files below a folder, with the modes that they have in packages, whatever
// the umask is. The manual pages are compressed, as distributions want them.
func stageFiles(dir string, files []file) error {
	for _, f := range files {
		path := filepath.Join(dir, f.path)
		if strings.HasPrefix(f.path, "share/man/") {
			var b bytes.Buffer
			zip, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
			if err != nil {
				return err
			}
			_, err = zip.Write(f.data)
			if err := errors.Join(err, zip.Close()); err != nil {
				return err
			}
			path, f.data = path+".gz", b.Bytes()
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, f.data, 0o600); err != nil {
			return err
		}
		if err := os.Chmod(path, fs.FileMode(f.mode)); err != nil {
			return err
		}
	}
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = os.Chmod(path, 0o755)
		}
		return err
	})
}
