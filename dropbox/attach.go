package dropbox

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"unicode/utf8"
)

// Attach durably stores a file as attach/<sha256>/NAME and returns its description for a
// message. Identical content with the same name is stored only once. NAME is name without
// its folders and its leading dots and hyphens, truncated to 100 bytes. In NAME, "_"
// replaces control characters, and ASCII characters other than letters, digits, spaces
// and "._-+". If the file is larger than MaxAttachment, the error is a [*TooLargeError],
// and the file is not stored.
func (s *Store) Attach(name string, r io.Reader) (Attachment, error) {
	a, err := s.attach(name, r)
	if err != nil {
		return Attachment{}, fmt.Errorf("attach %s: %w", name, err)
	}
	return a, nil
}

func (s *Store) attach(name string, r io.Reader) (Attachment, error) {
	limit := s.opts.MaxAttachment
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return Attachment{}, err
	}
	if n := int64(len(data)); n > limit {
		if f, ok := r.(interface{ Stat() (fs.FileInfo, error) }); ok {
			if info, err := f.Stat(); err == nil {
				n = max(n, info.Size()) // the size of the whole file, not only of the part that was read
			}
		}
		return Attachment{}, &TooLargeError{What: "attachment", Size: n, Max: limit}
	}
	sum := sha256.Sum256(data)
	a := Attachment{Name: attachmentName(name), Size: int64(len(data)), SHA256: hex.EncodeToString(sum[:])}
	folder := attachDir + "/" + a.SHA256
	a.Path = folder + "/" + a.Name
	if kept, err := s.disk.readFile(a.Path, limit); err == nil && bytes.Equal(kept, data) {
		// The process that wrote the file may have been killed before the file was durable.
		return a, errors.Join(s.disk.syncDir(folder), s.disk.syncDir(attachDir))
	}
	if there, err := s.disk.exists(attachDir); err != nil {
		return Attachment{}, err
	} else if !there { // another program deleted it
		if err := errors.Join(s.disk.mkdir(attachDir), s.disk.syncDir(".")); err != nil {
			return Attachment{}, err
		}
	}
	if err := s.disk.mkdir(folder); err != nil {
		return Attachment{}, err
	}
	if err := s.disk.syncDir(attachDir); err != nil {
		return Attachment{}, err
	}
	scratch := attachDir + "/" + scratchPrefix + NewID()
	err = s.disk.write(scratch, data)
	if err == nil {
		// It is safe to replace the file at a.Path, because that file has the same
		// content or a damaged version of it.
		if err = s.disk.replace(scratch, a.Path); err != nil {
			err = errors.Join(err, ignoreMissing(s.disk.remove(scratch)))
		}
	}
	if err != nil {
		_ = s.disk.removeFolder(folder) // if it is empty
		return Attachment{}, err
	}
	return a, s.disk.syncDir(folder)
}

// OpenAttachment opens an attachment for reading; the caller closes it. It checks the
// size but not the content. The error is [ErrInvalid] if a cannot have come from
// [Store.Attach], or if the file has a different size.
func (s *Store) OpenAttachment(a Attachment) (*os.File, error) {
	if err := a.check(); err != nil {
		return nil, fmt.Errorf("open attachment: %w", err)
	}
	f, err := s.disk.openRead(a.Path)
	if err != nil {
		return nil, fmt.Errorf("open attachment: %w", err)
	}
	if kindOf(f.st.Mode) != KindFile || f.st.Size != a.Size {
		f.close()
		return nil, fmt.Errorf("open attachment: %w", &fs.PathError{Op: "open", Path: a.Path, Err: ErrInvalid})
	}
	return os.NewFile(uintptr(f.fd), filepath.Join(s.dir, a.Path)), nil
}

// spill turns a body that is too long into an attachment, and keeps only the beginning of
// the text as the body.
func (s *Store) spill(m *Message, name string) error {
	a, err := s.attach(name, bytes.NewReader(m.Body))
	if err != nil {
		return err
	}
	m.Attachments = append(m.Attachments[:len(m.Attachments):len(m.Attachments)], a)
	note := fmt.Sprintf("\n\n[… %d bytes in all; the whole text is the attachment %s]\n", a.Size, a.Path)
	keep := int(s.opts.MaxBody) - len(note)
	if keep < 0 {
		keep, note = 0, note[:min(len(note), int(s.opts.MaxBody))]
	}
	for keep > 0 && !utf8.RuneStart(m.Body[keep]) {
		keep--
	}
	m.Body = append(bytes.Clone(m.Body[:keep]), note...)
	return nil
}
