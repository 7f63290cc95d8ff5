//go:build linux

package main

import (
	"fmt"
	"io"
	"strings"

	"golang.org/x/sys/unix"
)

// write prints the table, at most 80 columns wide, followed by the evidence and the notes.
func write(w io.Writer, rows []row) {
	fmt.Fprintf(w, "%-25s %6s %8s %5s %8s %6s %8s %5s\n", "fault", "times", "messages", "lost", "doubled", "order", "overlap", "left")
	var sum counts
	for _, r := range rows {
		if r.Skipped != "" {
			fmt.Fprintf(w, "%-25s %s\n", r.Fault, r.Skipped)
			continue
		}
		line(w, r.Fault, r.counts)
		sum.add(r.counts)
	}
	line(w, "in all", sum)
	for _, r := range rows {
		told := append(r.Notes, r.Evidence...)
		if r.Again > 0 {
			told = append([]string{fmt.Sprintf("%d turns were begun again after a cut", r.Again)}, told...)
		}
		if r.Failed != "" {
			told = append([]string{"FAILED: " + r.Failed}, told...)
		}
		if len(told) > 0 {
			fmt.Fprintf(w, "\n%s, %.0f s:\n  %s\n", r.Fault, r.Seconds, strings.Join(told, "\n  "))
		}
	}
}

func line(w io.Writer, name string, c counts) {
	fmt.Fprintf(w, "%-25s %6d %8d %5d %8d %6d %8d %5d\n", name, c.Injected, c.Messages, c.Lost, c.Doubled, c.Disorder, c.Overlaps, c.Left)
}

// kernel returns the name and release of the running system.
func kernel() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return "linux"
	}
	return "linux " + unix.ByteSliceToString(u.Release[:])
}
