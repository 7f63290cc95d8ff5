package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
)

// A file is a file of a package.
type file struct {
	path string // below the folder into which the package is unpacked
	mode int64
	data []byte
}

// tarball writes a package that tar unpacks; prefix precedes each path in it. The package
// names no folders, so tar does not change the modes of those that already exist.
func (r *release) tarball(name, prefix string, files []file) error {
	var b bytes.Buffer
	zip, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	w := tar.NewWriter(zip)
	for _, f := range files {
		h := tar.Header{Name: prefix + f.path, Mode: f.mode, Size: int64(len(f.data)), ModTime: r.time, Uname: "root", Gname: "root"}
		if err := w.WriteHeader(&h); err != nil {
			return err
		}
		if _, err := w.Write(f.data); err != nil {
			return err
		}
	}
	if err := errors.Join(w.Close(), zip.Close()); err != nil {
		return err
	}
	return r.add(name, b.Bytes())
}
