package acpstandin

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Bad lists the kinds of bad clients. ACPSTANDIN_BAD chooses one, as KIND or KIND:METHOD.
// With a METHOD, the client behaves correctly until it writes the answer to that request,
// or its own message with that method. Without a METHOD, it misbehaves from its first
// message on.
var Bad = []string{
	"prose",      // prints sentences
	"silent",     // reads its input and prints nothing
	"echo",       // prints its input, as cat does; with a METHOD, prints that message twice
	"exit",       // prints the reason to standard error and exits with status 3
	"kill",       // kills itself with SIGKILL
	"garbage",    // prints bytes that are not JSON, then the message
	"long-line",  // prints 24 MiB in one line, then the message
	"many-lines", // prints 24 MiB in many lines, then the message
	"glued",      // prints a log text without a newline, then the message
	"half",       // prints half of the message and then nothing
	"ids",        // answers with a wrong id
	"twice",      // prints each message twice
	"strings",    // writes numbers as strings
	"deep",       // adds nested arrays, 200,000 levels deep
	"mute",       // omits the message
	"asks",       // asks for 20,000 permissions
	"wants",      // sends 400,000 requests with an unknown method and reads no answers
}

// garbageSize is the amount of garbage in long-line and many-lines, in bytes. It is more
// than a backend keeps of a line.
const garbageSize = 24 << 20

// misbehave turns the agent into a bad client. If all is true, the client never spoke the
// protocol, and code is its exit status.
func (a *agent) misbehave(bad string, stdin io.Reader, stdout io.Writer) (code int, all bool) {
	kind, method, _ := strings.Cut(bad, ":")
	if !slices.Contains(Bad, kind) {
		fmt.Fprintf(a.stderr, "acpstandin: no bad client is called %q\n", kind)
		return 2, true
	}
	if method == "" {
		switch kind {
		case "prose":
			fmt.Fprint(stdout, "Welcome to the assistant!\nType /help for help.\n\n> ")
			io.Copy(io.Discard, stdin)
			return 0, true
		case "silent":
			io.Copy(io.Discard, stdin)
			return 0, true
		case "echo":
			io.Copy(stdout, stdin)
			return 0, true
		case "exit", "kill":
			a.die(kind)
		}
	}
	dumb := false
	a.conn.spoil = func(written string, line []byte) []byte {
		if method != "" && written != method {
			return line
		}
		if dumb {
			return nil
		}
		switch kind {
		case "prose":
			return append([]byte("Now I think about it.\n"), line...)
		case "silent":
			dumb = true
			return nil
		case "asks", "wants":
			pester(kind, stdout)
			return nil
		case "half":
			dumb = true
			stdout.Write(line[:len(line)/2])
			return nil
		}
		return a.spoiled(kind, line)
	}
	return 0, false
}

// pester prints requests, and then waits to be killed. They are twice as many as a backend
// accepts.
func pester(kind string, stdout io.Writer) {
	n := 20_000
	request := `"method":"session/request_permission","params":{"toolCall":{"toolCallId":"call-1","kind":"execute","rawInput":{"command":"true"}},"options":[]}`
	if kind == "wants" {
		n, request = 400_000, `"method":"terminal/create"`
	}
	out := bufio.NewWriterSize(stdout, 64<<10)
	for id := range n {
		fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%d,%s}`+"\n", id, request)
	}
	out.Flush() // an error means that nobody reads the requests
	select {}
}

// spoiled returns what a bad client outputs in place of a line.
func (a *agent) spoiled(kind string, line []byte) []byte {
	switch kind {
	case "exit", "kill":
		a.die(kind)
	case "mute":
		return nil
	case "echo", "twice":
		return slices.Concat(line, []byte("\n"), line)
	case "garbage":
		return slices.Concat([]byte("\x00\xff{\"id\":]\x1b[31m\n\n{}\n[]\nnull\n7\n\"a\"\n"), line)
	case "glued":
		return append([]byte("[log] flushing {2 of 2} {\"id\":7}... "), line...)
	case "long-line":
		return slices.Concat(bytes.Repeat([]byte("x"), garbageSize), []byte("\n"), line)
	case "many-lines":
		return append(bytes.Repeat([]byte("garbage in many lines, each of sixty-four bytes, is no message\n"), garbageSize/63), line...)
	case "ids":
		return bytes.Replace(line, []byte(`"id":`), []byte(`"id":99`), 1)
	case "strings":
		return numbers(line)
	case "deep":
		const levels = 200000
		deep := slices.Concat(bytes.Repeat([]byte("["), levels), bytes.Repeat([]byte("]"), levels))
		return slices.Concat(line[:len(line)-1], []byte(`,"_deep":`), deep, []byte("}"))
	}
	return line
}

// numbers replaces the numbers in a line with strings, except inside strings.
func numbers(line []byte) []byte {
	var out []byte
	quoted, number := false, false
	for i, b := range line {
		digit := b >= '0' && b <= '9' || b == '.' || b == '-'
		if !quoted && digit != number {
			out = append(out, '"')
			number = digit
		}
		if b == '"' && (i == 0 || line[i-1] != '\\') {
			quoted = !quoted
		}
		out = append(out, b)
	}
	return out
}

// die ends the process.
func (a *agent) die(how string) {
	if how == "kill" {
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		time.Sleep(time.Minute) // the signal arrives in the meantime
	}
	fmt.Fprintln(a.stderr, "acpstandin: the settings are broken")
	os.Exit(3)
}
