// Client is the smallest client that the daemon accepts. It reports the time at which it
// was started or, with BENCH_STAMP=replay, the time at which it repeated a prompt. It
// reports immediately that the prompt is done, so the benchmark does not measure the time
// that the real client takes to print its first line.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// stamp writes the time to a named pipe, so that the benchmark need not poll for it.
func stamp() {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic(err)
	}
	f, err := os.OpenFile(os.Getenv("BENCH_STAMPS"), os.O_WRONLY, 0)
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(f, t.Nano())
	f.Close()
}

func main() {
	if os.Args[len(os.Args)-1] == "--help" {
		return // the daemon requests the help text before the first turn that resumes a session
	}
	replay := os.Getenv("BENCH_STAMP") == "replay"
	if !replay {
		stamp()
	}
	session := ""
	for i, arg := range os.Args[:len(os.Args)-1] {
		if arg == "--session-id" || arg == "--resume" {
			session = os.Args[i+1]
		}
	}
	in := bufio.NewReader(os.Stdin)
	for { // until the input is closed
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		fmt.Printf(`{"type":"system","subtype":"init","session_id":%q,"model":"none","tools":[]}`+"\n", session)
		if replay {
			_, rest, _ := strings.Cut(line, `"uuid":"`)
			uuid, _, _ := strings.Cut(rest, `"`)
			fmt.Printf(`{"type":"user","isReplay":true,"message":{"role":"user","content":""},"session_id":%q,"uuid":%q}`+"\n", session, uuid)
			stamp()
		}
		fmt.Printf(`{"type":"result","subtype":"success","is_error":false,"result":"done","session_id":%q,"num_turns":1}`+"\n", session)
	}
}
