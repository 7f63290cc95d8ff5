package ircbridge_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// A person reads a 200 KB result page by page, to its last byte. The message's body
// contains only the beginning of the result. The bridge sends the pages privately, even
// though the person asked in the channel.
func TestReadingALongResult(t *testing.T) {
	onEachServer(t, func(t *testing.T, addr string) {
		s := newScene(t, addr)
		s.start()
		s.ready()
		ann := newPerson(t, s.o.Server.Addr, "ann", "#project-x")
		var text bytes.Buffer
		for i := 0; text.Len() < 190_000; i++ {
			fmt.Fprintf(&text, "row %d of a long result,%s and its end\n\n", i, strings.Repeat(" word", i%200))
		}
		text.WriteString(strings.Repeat("x", 10_000)) // without a suitable place to cut
		d, err := s.store.Deliver("coder", &dropbox.Message{From: "tester", Subject: "the log", Type: dropbox.Result, Body: text.Bytes()})
		if err != nil {
			t.Fatal(err)
		}
		private := func() (list []string) {
			for _, l := range ann.lines() {
				if said, ok := strings.CutPrefix(l, "ann swarm: "); ok {
					list = append(list, said)
				}
			}
			return list
		}
		ann.say("#project-x", "swarm: read "+d.ID)
		var got strings.Builder
		seen, pages := 0, 0
		for more := true; more; pages++ {
			var page []string
			eventually(t, fmt.Sprintf("page %d", pages), func() bool {
				page = private()[seen:]
				if len(page) == 0 {
					return false
				}
				last := page[len(page)-1]
				more = strings.HasSuffix(last, " more lines: more)")
				return more || strings.HasPrefix(last, "(attached: result.md, ")
			})
			if len(page) > 11 {
				t.Fatalf("page %d has %d lines", pages, len(page))
			}
			seen += len(page)
			for _, l := range page {
				if len(":swarm!~user@localhost PRIVMSG ann :"+l) > 510 {
					t.Errorf("a line of %d bytes", len(l))
				}
			}
			for _, l := range page[:len(page)-1] {
				got.WriteString(l)
			}
			if more {
				ann.say("#project-x", "swarm: more")
			}
		}
		want := strings.ReplaceAll(text.String(), "\n", "")
		bare := func(s string) string { return strings.ReplaceAll(s, " ", "") } // a cut may remove a space
		if _, said, _ := strings.Cut(got.String(), "the log"); bare(said) != bare(want) {
			t.Errorf("read %d bytes, want %d", len(said), len(want))
		}
		if pages < 40 || pages > 100 {
			t.Errorf("%d pages", pages)
		}
		ann.say("swarm", "more")
		ann.sees("ann swarm: There is no more.")
		told := slices.DeleteFunc(ann.lines(), func(l string) bool { return !strings.HasPrefix(l, "#project-x swarm: ") })
		if !slices.Equal(told, []string{"#project-x swarm: ann: I will answer you privately."}) {
			t.Errorf("told in the channel: %q", told)
		}
	})
}

// A message that does not fit in one IRC line does not count as a short answer. No page
// or line ends within a secret.
func TestReadingNeitherFloodsNorTells(t *testing.T) {
	onEachServer(t, func(t *testing.T, addr string) {
		s := newScene(t, addr)
		s.start()
		s.ready()
		ann := newPerson(t, s.o.Server.Addr, "ann", "#project-x")
		leave := func(text string) string {
			d, err := s.store.Deliver("coder", &dropbox.Message{From: "tester", Type: dropbox.Note, Body: []byte(text)})
			if err != nil {
				t.Fatal(err)
			}
			return d.ID
		}
		ann.say("#project-x", "swarm: read "+leave(strings.Repeat("word ", 400)+"and the end"))
		ann.sees("#project-x swarm: ann: I will answer you privately.")
		ann.like("ann swarm:  word word")
		ann.like("and the end")

		var key strings.Builder
		for i := range 6 {
			fmt.Fprintf(&key, "row %d\n", i)
		}
		key.WriteString("-----BEGIN OPENSSH PRIVATE KEY-----\n")
		for i := range 30 {
			fmt.Fprintf(&key, "secret%02d\n", i)
		}
		key.WriteString("-----END OPENSSH PRIVATE KEY-----\n")
		key.WriteString(strings.Repeat("y ", 200) + "ghp_" + strings.Repeat("secret0123", 4) + "\nrow 99\n")
		ann.say("swarm", "read "+leave(key.String()))
		for _, last := range []string{"[masked]", "row 99"} {
			ann.like(last)
		}
		for _, l := range ann.lines() {
			if strings.Contains(l, "secret") {
				t.Errorf("told: %q", l)
			}
		}
		for _, l := range ann.lines() {
			if strings.HasPrefix(l, "#project-x swarm: ") && !strings.HasSuffix(l, "privately.") {
				t.Errorf("told in the channel: %q", l)
			}
		}
	})
}
