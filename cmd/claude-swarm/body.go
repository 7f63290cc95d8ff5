package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/claude-swarm/claude-swarm/internal/client"
)

// A textSource is the source of a message's text: the words on the command line, a file, or
// the standard input if the only word or the file name is "-".
type textSource struct {
	words []string
	file  string
	stdin io.Reader
	most  int // maximum size in bytes
	// readable checks that the sender is allowed to send the file, and returns the path
	// from which to read it.
	readable func(path string) (string, error)
	// as is the beginning of the command line in a hint, such as "claude-swarm send
	// coder".
	as string
}

// read reads, checks and returns the text. It does not change text from a file or the
// standard input. It ends text from the command line with a newline, like a text file,
// unless the newline would make the text too long.
func (s textSource) read() ([]byte, error) {
	var body []byte
	switch {
	case s.file != "" && len(s.words) > 0:
		return nil, usagef(s.as+" --file "+shellWord(s.file), "the text is given twice: on the command line and with --file")
	case s.file == "-" || s.file == "" && len(s.words) == 1 && s.words[0] == "-":
		data, err := readText(s.stdin)
		if err != nil {
			return nil, fmt.Errorf("read the standard input: %w", err)
		}
		body = data
	case s.file != "":
		path, err := s.readable(s.file)
		var data []byte
		if err == nil {
			data, err = readFileText(path)
		}
		if err != nil {
			return nil, s.fileError(err)
		}
		body = data
	case len(s.words) == 0:
		return nil, usagef(s.as+` "what to do"   (or - for the standard input)`, "the text is missing")
	case len(s.words) == 1 && isFileMark(s.words[0]):
		file := strings.TrimPrefix(s.words[0], "@")
		return nil, usagef(s.as+" --file "+shellWord(file)+"   (as the text: printf %s "+shellWord(s.words[0])+" | "+s.as+" -)",
			"%s may mean the file %s", s.words[0], file)
	default:
		body = client.Body(s.words, s.most)
	}
	return body, s.check(body)
}

// isFileMark reports whether a text is @ and the name of a file here, which other programs
// take for the content of that file.
func isFileMark(text string) bool {
	name, marked := strings.CutPrefix(text, "@")
	if !marked || name == "" {
		return false
	}
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// check returns an error for data that is not text, for empty text, and for text that is
// too long.
func (s textSource) check(body []byte) error {
	switch flaw, at := client.FlawOf(body, s.most); flaw {
	case client.Empty:
		return usagef(s.as+` "what to do"`, "the text is empty")
	case client.HasNUL:
		return usagef(s.attachHint(), "the text has a NUL byte (at byte %d); a message is text", at+1)
	case client.NotUTF8:
		return usagef(s.attachHint(), "the text is not UTF-8 (at byte %d); a message is text", at+1)
	case client.TooLong:
		return fail(exitRefused, s.attachHint(), "the text is %s long; a message can be at most %s long", byteCount(len(body)), byteCount(s.most))
	}
	return nil
}

func (s textSource) attachHint() string {
	file := "FILE"
	if s.file != "" && s.file != "-" {
		file = shellWord(s.file)
	}
	return s.as + ` "see the attachment" --attach ` + file
}

func (s textSource) fileError(err error) error {
	if isFileError(err) {
		return hintFile(err)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fail(exitFailed, s.as+` "what to do"`, "no file %s", s.file)
	}
	if errors.Is(err, errFolder) {
		return fail(exitFailed, s.as+" --file FILE", "%w", err)
	}
	return fmt.Errorf("read the text: %w", err)
}

var errFolder = errors.New("a folder")

// maxRead is the maximum number of bytes to read from a text source. It is larger than
// the limit for a message, so that the error for longer text can state its length.
const maxRead = 64 << 20

func readText(r io.Reader) ([]byte, error) { return io.ReadAll(io.LimitReader(r, maxRead)) }

func readFileText(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil {
		return nil, err
	} else if info.IsDir() {
		return nil, fmt.Errorf("%s is %w", path, errFolder)
	}
	return readText(f)
}
