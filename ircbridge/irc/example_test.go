package irc_test

import (
	"fmt"

	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

func ExampleParse() {
	m, err := irc.Parse("@time=2026-11-21T10:00:00.000Z :ann!a@host PRIVMSG #room :hello there\r\n")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Nick(), "says", m.Last(), "in", m.Param(0))
	// Output: ann says hello there in #room
}

func ExampleMessage_Append() {
	line, _ := irc.Msg("PRIVMSG", "#room", "one line\r\nQUIT :not a second").Append(nil)
	fmt.Printf("%+q\n", line)
	// Output: "PRIVMSG #room :one line\ufffd\ufffdQUIT :not a second\r\n"
}

func ExampleSplit() {
	for _, l := range irc.Split("Words stay whole where they fit.\nLines end.", 16) {
		fmt.Printf("%q %v\n", l.Text, l.Concat)
	}
	// Output:
	// "Words stay whole" false
	// " where they fit." true
	// "Lines end." false
}

func ExampleMentions() {
	fmt.Println(irc.Mentions("@ann: please look", "ann", irc.ASCII))
	fmt.Println(irc.Mentions("@ann-marie: please look", "ann", irc.ASCII))
	// Output:
	// true
	// false
}

func ExampleMasker() {
	m := irc.NewMasker("open sesame")
	fmt.Println(m.Mask("export API_TOKEN=abc123def and say open sesame"))
	// Output: export API_TOKEN=[masked] and say [masked]
}
