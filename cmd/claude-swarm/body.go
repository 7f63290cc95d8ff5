package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/claude-swarm/claude-swarm/internal/client"
)

// A textSource says where the text of a message comes from: the words of the command line, a
// file, or the standard input if the only word or the name of the file is "-".
type textSource struct {
	words []string
	file  string
	stdin io.Reader
	most  int // largest size in bytes
	// readable checks that the sender is allowed to send the file, and returns the path
	// to open.
	readable func(path string) (string, error)
	// as is how the command line in a hint begins: "claude-swarm send coder".
	as string
}

// read reads the text, checks it and returns it. Text from a file or the standard input stays
// as it is, byte for byte. Words from the command line get a newline at the end, as in a text
// file, unless the newline would make the text too long.
func (s textSource) read() ([]byte, error) {
	var body []byte
	switch {
	case s.file != "" && len(s.words) > 0:
		return nil, usagef(s.as+" --file "+shellWord(s.file), "the text is given twice: on the command line and by --file")
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
	default:
		body = client.Body(s.words, s.most)
	}
	return body, s.check(body)
}

// check refuses bytes that are not text, an empty text, and a text that is too long.
func (s textSource) check(body []byte) error {
	switch flaw, at := client.FlawOf(body, s.most); flaw {
	case client.Empty:
		return usagef(s.as+` "what to do"`, "the text is empty")
	case client.HasNUL:
		return usagef(s.attachHint(), "the text has a NUL byte (at byte %d); a message is text", at+1)
	case client.NotUTF8:
		return usagef(s.attachHint(), "the text is not UTF-8 (at byte %d); a message is text", at+1)
	case client.TooLong:
		return fail(exitRefused, s.attachHint(), "the text has %s; a message can have at most %s", byteCount(len(body)), byteCount(s.most))
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

// maxRead limits how many bytes of a text are read. It is above the limit for a message, so
// that the error can state the length of a text that is too long.
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
