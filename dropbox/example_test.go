package dropbox_test

import (
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// openExample creates a store for an example.
func openExample(mailboxes ...string) (*dropbox.Store, func()) {
	dir, err := os.MkdirTemp("", "dropbox")
	if err == nil {
		err = dropbox.Create(filepath.Join(dir, ".dead-drop"))
	}
	if err != nil {
		log.Fatal(err)
	}
	s, err := dropbox.Open(filepath.Join(dir, ".dead-drop"), dropbox.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range mailboxes {
		if err := s.MakeMailbox(name); err != nil {
			log.Fatal(err)
		}
	}
	return s, func() { s.Close(); os.RemoveAll(dir) }
}

// A message is sent, handled in a turn and moved to done/.
func Example() {
	store, done := openExample("coder")
	defer done()

	// Any process can send messages without a lock.
	sent, err := store.Deliver("coder", &dropbox.Message{Subject: "Build", Body: []byte("Fix the build.\n")})
	if err != nil {
		log.Fatal(err)
	}

	// Only one process at a time processes the mailboxes.
	release, err := store.Lock()
	if err != nil {
		log.Fatal(err)
	}
	defer release()
	box, err := store.Mailbox("coder")
	if err != nil {
		log.Fatal(err)
	}
	waiting, err := box.List()
	if err != nil {
		log.Fatal(err)
	}
	for _, entry := range waiting {
		claim, err := box.Claim(entry)
		if errors.Is(err, dropbox.ErrGone) {
			continue // it has just been cancelled
		} else if err != nil {
			log.Fatal(err)
		}
		if claim.Bad != nil {
			err = box.GiveUp(claim.Entry, claim.Bad.Error())
		} else {
			fmt.Printf("%s for the %d. time: %s", claim.Message.Subject, claim.Begun, claim.Message.Body)
			if err = box.Commit(claim.Entry, []byte("v: 1\n")); err == nil {
				err = box.Finish(claim.Entry)
			}
		}
		if err != nil {
			log.Fatal(err)
		}
	}
	found, err := store.Find(sent.ID[6:])
	fmt.Println(found.State, err)
	// Output:
	// Build for the 1. time: Fix the build.
	// done <nil>
}

// A sender that does not know whether its delivery succeeded repeats it with the same key.
func ExampleStore_Deliver_key() {
	store, done := openExample("coder")
	defer done()
	for range 2 {
		d, err := store.Deliver("coder", &dropbox.Message{Key: "nightly 2026-11-21", Body: []byte("Run the tests.")})
		fmt.Println(d.Duplicate, err)
	}
	// Output:
	// false <nil>
	// true <nil>
}

// The error for an unknown name suggests similar names.
func ExampleUnknownError() {
	store, done := openExample("alice", "bob")
	defer done()
	_, err := store.Deliver("alcie", &dropbox.Message{Body: []byte("hello")})
	fmt.Println(err)
	if unknown, ok := errors.AsType[*dropbox.UnknownError](err); ok {
		fmt.Println(unknown.Near)
	}
	// Output:
	// deliver to alcie: no mailbox "alcie"; did you mean alice?
	// [alice]
}

// The proof covers the message exactly as it is written, so the store calls the sender's
// function to create the proof.
func ExampleStore_Send() {
	store, done := openExample("alice", "bob", "carol")
	defer done()
	const token = "known to alice and the daemon"
	sent, err := store.Send(
		&dropbox.Message{From: "alice", To: []string{dropbox.All}, CC: []string{dropbox.Lead}, Body: []byte("Lunch?")},
		func(m *dropbox.Message, to string) string { return dropbox.Proof(token, m, to) })
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range sent {
		fmt.Println(d.To, d.Thread == sent[0].Thread)
	}
	// Output:
	// bob true
	// carol true
	// lead true
}

// A file that a person puts into the folder becomes a message.
func ExampleDrops_TakeIn() {
	store, done := openExample("coder")
	defer done()
	box, err := store.Mailbox("coder")
	if err != nil {
		log.Fatal(err)
	}
	path := filepath.Join(store.Dir(), "coder", "todo.md")
	if err := os.WriteFile(path, []byte("Tidy up.\n"), 0o600); err != nil {
		log.Fatal(err)
	}
	strays, err := box.Drops().List() // list twice with a pause in between, and compare with Same
	if err != nil {
		log.Fatal(err)
	}
	for _, stray := range strays {
		d, err := box.Drops().TakeIn(stray, dropbox.Defaults{From: dropbox.Lead})
		fmt.Println(stray.Name, d.To, err)
	}
	// Output: todo.md coder <nil>
}
