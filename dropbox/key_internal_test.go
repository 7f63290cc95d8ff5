package dropbox

import (
	"errors"
	"testing"
	"time"
)

// A caller that reads a key file before it is replaced does not remove the newer key file.
func TestASlowCallerKeepsTheNewerKey(t *testing.T) {
	now := time.Now()
	dir := t.TempDir()
	if err := Create(dir); err != nil {
		t.Fatal(err)
	}
	s, err := Open(dir, Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.MakeMailbox("coder"); err != nil {
		t.Fatal(err)
	}
	send := func() Delivery {
		t.Helper()
		d, err := s.Deliver("coder", &Message{From: "lead", Type: Task, Key: "k", Body: []byte("once")})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	send()
	link := keyFile("coder", "k")
	_, _, old, err := s.keys().read("coder", "k")
	if err != nil {
		t.Fatal(err)
	}
	now = now.Add(keyLife + time.Minute)
	newer := send()
	if newer.Duplicate {
		t.Fatal("the key of a week ago still counts")
	}
	if err := s.keys().forget("coder", link, old); !errors.Is(err, errForgotten) {
		t.Errorf("forget = %v, want errForgotten", err)
	}
	if d := send(); !d.Duplicate || d.ID != newer.ID {
		t.Errorf("delivered again as %+v, want a duplicate of %s", d, newer.ID)
	}
}
