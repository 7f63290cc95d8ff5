// Picture draws what the demo prints as an SVG, which the README shows. `make picture` runs
// it in the root folder of the module:
//
//	go run ./internal/testkit/picture [--from TEXT] [--to TEXT] PROGRAM FILE
//
// It runs PROGRAM demo in a private tmux server with one pane of 80 columns, captures the
// pane with its colors, and writes the lines between the first line that begins with the
// one text and the next line that begins with the other:
//
//	PROGRAM demo --> tmux --capture-pane -e--> rows of spans --> SVG
//
// The picture is text, so it can be read, copied and searched, and its colors follow the
// reader's light or dark theme. It contains ids, times and a duration, so two runs differ. A
// test in docs/shown compares its words with the page about the demo.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
)

func main() {
	from := flag.String("from", "", "leave out what is before the first line that begins with `TEXT`")
	to := flag.String("to", "", "leave out the next line that begins with `TEXT`, and what follows")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, flag.Args(), *from, *to); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, from, to string) error {
	if len(args) != 2 {
		return errors.New("want PROGRAM and FILE")
	}
	screen, err := play(ctx, args[0])
	if err != nil {
		return err
	}
	rows, err := parse(screen)
	if err != nil {
		return err
	}
	if rows, err = rowsBetween(rows, from, to); err != nil {
		return err
	}
	return os.WriteFile(args[1], draw(rows), 0o644)
}

// rowsBetween returns the rows from the first one that begins with from up to the next one that
// begins with to, without that row and without empty rows at the end. An empty text stands
// for the beginning or the end.
func rowsBetween(rows []row, from, to string) ([]row, error) {
	begin, end := -1, len(rows)
	for i, r := range rows {
		switch {
		case begin < 0 && strings.HasPrefix(r.text(), from):
			begin = i
		case begin >= 0 && to != "" && strings.HasPrefix(r.text(), to):
			end = i
		}
		if end < len(rows) {
			break
		}
	}
	if begin < 0 {
		return nil, fmt.Errorf("no line begins with %q", from)
	}
	if to != "" && end == len(rows) {
		return nil, fmt.Errorf("no later line begins with %q", to)
	}
	for end > begin && rows[end-1].text() == "" {
		end--
	}
	return rows[begin:end], nil
}
