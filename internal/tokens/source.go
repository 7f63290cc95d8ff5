package tokens

import (
	"io"
	"io/fs"
	"os"
	"sync"
	"time"
)

// A Source returns the redactor of a project's current tokens. It checks the token file
// each time and reads it again if it has changed. It is safe for concurrent use.
type Source struct {
	home string

	mu       sync.Mutex
	size     int64
	changed  time.Time
	redactor *Redactor
}

// NewSource creates the source for a daemon's folder. It does not read the file yet.
func NewSource(home string) *Source { return &Source{home: home} }

// Redactor returns the redactor for the tokens that are currently in the file. If it
// cannot read the file, it returns the previous redactor.
func (s *Source) Redactor() *Redactor {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	info, err := os.Stat(File(s.home))
	if err != nil || s.redactor != nil && s.unchanged(info) {
		return s.redactor
	}
	read, err := Read(s.home)
	if err != nil {
		return s.redactor
	}
	s.size, s.changed, s.redactor = info.Size(), info.ModTime(), NewRedactor(read)
	return s.redactor
}

// unchanged reports whether a file is unchanged since it was last read.
func (s *Source) unchanged(info fs.FileInfo) bool {
	return s.size == info.Size() && s.changed.Equal(info.ModTime())
}

// Hidden returns the text with the tokens replaced. If the text contains no tokens, it
// returns the same slice.
func (s *Source) Hidden(text []byte) []byte { return s.Redactor().Bytes(text) }

// Writer returns a writer that writes text to w with the tokens replaced. Each Write must
// contain only complete lines, because a token that is split in two is not recognized.
func (s *Source) Writer(w io.Writer) io.Writer { return &writer{s, w} }

type writer struct {
	source *Source
	w      io.Writer
}

func (w *writer) Write(p []byte) (int, error) {
	if _, err := w.w.Write(w.source.Redactor().Bytes(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}
