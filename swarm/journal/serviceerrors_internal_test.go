package journal

import (
	"testing"
	"time"
)

// The turns of the others that succeeded after an error began show whose the error is. Each row is a history; every step takes a minute. A capital letter is an error of
// that agent, and a small letter is a good turn of that agent. "/" is a restart of the daemon.
func TestWhoseAServiceErrorIs(t *testing.T) {
	for history, want := range map[string]Blame{
		"X":       {Unshared: true},
		"bX":      {Unshared: true}, // b succeeded before the error began
		"XbX":     {Own: true, Alone: true, Counts: true, Unshared: true},
		"Xb/X":    {Own: true, Alone: true, Counts: true, Unshared: true},
		"XbXX":    {Own: true, Unshared: true}, // nobody has succeeded since
		"XbXbX":   {Own: true, Alone: true, Counts: true, Unshared: true},
		"XbBX":    {}, // one more agent meets errors
		"XBX":     {},
		"XBbX":    {Own: true, Alone: true, Counts: true, Unshared: true},
		"XBcX":    {Own: true, Alone: true, Counts: true},
		"XbXBBcX": {Own: true, Alone: true, Counts: true},
		"XcX":     {Own: true, Alone: true, Counts: true, Unshared: true},
		"XoX":     {Own: true, Unshared: true},                            // o uses another model
		"XaX":     {Unshared: true},                                       // a uses another account
		"XbxX":    {Unshared: true},                                       // its own good turn ended the errors
		"XmX":     {Own: true, Alone: true, Counts: true, Unshared: true}, // m is another message of the same agent
		"Xb_X":    {Unshared: true},                                       // an hour later
	} {
		home := newHome(t)
		s := opened(t, home)
		now := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
		var got Blame
		for _, step := range history {
			now = now.Add(time.Minute)
			agent, account, message, model := string(step|0x20), "account", string(step|0x20), "large"
			switch step {
			case '/':
				s = opened(t, home)
				continue
			case '_':
				now = now.Add(time.Hour)
				continue
			case 'o':
				model = "small"
			case 'a':
				account = "another"
			case 'm':
				agent = "x"
			}
			if step >= 'a' {
				if _, err := s.ServiceWorks(agent, account, message, model, now); err != nil {
					t.Fatal(err)
				}
				continue
			}
			met := MetError{Account: account, Message: message, Model: model, Began: now.Add(-time.Second), Renewed: true}
			_, got = s.Blamed(agent, met, now)
			if err := s.MetService(agent, met, now); err != nil {
				t.Fatal(err)
			}
		}
		if got != want {
			t.Errorf("%s: the last error is %+v, want %+v", history, got, want)
		}
	}
}

// An error counts only after a new session has met it too.
func TestAServiceErrorCountsAfterANewSession(t *testing.T) {
	s := opened(t, newHome(t))
	now := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	met := MetError{Account: "account", Message: "m", Began: now}
	for i, c := range []struct {
		renewed bool
		want    Blame
	}{
		{false, Blame{Own: true, Alone: true, Unshared: true}},
		{true, Blame{Own: true, Alone: true, Counts: true, Unshared: true}},
		{false, Blame{Own: true, Alone: true, Counts: true, Unshared: true}},
	} {
		now = now.Add(time.Minute)
		met.Began, met.Renewed = now, c.renewed
		if _, err := s.ServiceWorks("other", "account", "n", "", now.Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		_, got := s.Blamed("coder", met, now.Add(2*time.Second))
		if got != c.want {
			t.Errorf("error %d: %+v, want %+v", i, got, c.want)
		}
		if err := s.MetService("coder", met, now.Add(2*time.Second)); err != nil {
			t.Fatal(err)
		}
	}
}
