package ircbridge_test

import (
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/internal/testkit/irctest"
	"github.com/claude-swarm/claude-swarm/ircbridge"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// loginScene returns a bridge that has an account on a network whose server and services
// are real programs from other projects.
func loginScene(t *testing.T) (*scene, *irctest.Network) {
	t.Helper()
	n := irctest.NewNetwork(t)
	s := newScene(t, n.TLS)
	s.o.Server.TLS, s.o.Server.CAFile = true, n.Authority.File
	s.o.Server.SASL, s.o.Server.Account, s.o.Server.SASLPassword = "plain", "swarm", "the-right-one"
	s.o.Allow = []bridge.Permit{{Account: "ann", May: bridge.Rights()}}
	n.Register("swarm", "the-right-one")
	return s, n
}

// A person with an account that the server confirms can give orders. A nick is not proof
// of identity.
func TestAccountsOfRealServices(t *testing.T) {
	s, n := loginScene(t)
	n.Register("ann", "anns-own-one")
	s.start()
	s.ready()
	s.state("logged in", func(st bridge.State) bool { return st.Account == "swarm" })

	login := irc.Config{Addr: n.Addr, Nick: "ann", SASL: &irc.SASL{Mechanism: "PLAIN", User: "ann", Password: "anns-own-one"}}
	ann := newPersonBy(t, login, "#project-x")
	ann.say("#project-x", "coder: one, by ann who is logged in")
	if m := s.mail("coder", 1)[0]; !strings.Contains(string(m.Body), "one, by ann") {
		t.Errorf("mail: %s", m.Body)
	} else if note, ok := bridge.OriginOf(m, ircbridge.Name); !ok || note.Account != "ann" {
		t.Errorf("note: %+v", note)
	}
	ann.say("swarm", "TASK: coder: two, privately")
	s.mail("coder", 2)

	// A person who changes nick but stays logged in to the account is still the same
	// person.
	ann.raw("NICK", "annabel")
	ann.say("#project-x", "coder: three, by annabel who is ann")
	s.mail("coder", 3)

	// The nick ann is now free. Another person who takes it gets no rights.
	eve := newPerson(t, n.Addr, "ann", "#project-x")
	eve.say("#project-x", "coder: by a nick")
	eve.say("swarm", "TASK: coder: by a nick, privately")
	s.state("two denied", func(st bridge.State) bool { return st.Denied == 2 })

	// Without services, the server still confirms people who are logged in, but accepts
	// no new logins.
	n.StopServices()
	ann.say("#project-x", "coder: four, without services")
	s.mail("coder", 4)
	eve.say("#project-x", "coder: by a nick, without services")
	s.state("three denied", func(st bridge.State) bool { return st.Denied == 3 })
	n.StartServices()
	ann.say("#project-x", "coder: five, with services again")
	s.mail("coder", 5)
	if st := s.state("connected", func(st bridge.State) bool { return st.Connected }); st.Reconnects != 0 {
		t.Errorf("%d reconnects while the services were away", st.Reconnects)
	}

	// A person who logs out has no rights.
	ann.say("NickServ", "LOGOUT")
	ann.like("NickServ: You have been logged out.")
	ann.say("#project-x", "coder: by ann who has logged out")
	s.state("four denied", func(st bridge.State) bool { return st.Denied == 4 })
	s.mail("coder", 5)
	if log := s.log.String(); strings.Count(log, "msg=denied") != 4 || !strings.Contains(log, "by a nick, privately") {
		t.Errorf("log:\n%s", log)
	}
}

func TestLoginRefusedIsSaid(t *testing.T) {
	s, n := loginScene(t)
	s.o.Server.SASLPassword = "the-wrong-one"
	s.start()
	st := s.state("refused", func(st bridge.State) bool { return strings.Contains(st.Why, "will not try again") })
	if !strings.Contains(st.Why, irc.ErrSASL.Error()) || st.Connected || !st.NextTry.IsZero() || strings.Contains(st.Why+s.log.String(), "the-wrong-one") {
		t.Errorf("state %+v", st)
	}
	if _, err := newPerson(t, n.Addr, "bob").conn.Do(t.Context(), irc.Msg("WHOIS", "swarm")); err == nil {
		t.Error("the bridge is there without its login")
	}
	s.stop()

	// The bridge waits while the services are down.
	n.StopServices()
	s.o.Server.SASLPassword = "the-right-one"
	s.start()
	s.state("no logins", func(st bridge.State) bool {
		return strings.Contains(st.Why, irc.ErrNoSASL.Error()) && !st.NextTry.IsZero()
	})
	n.StartServices()
	s.ready()

	// The bridge verifies the server's certificate.
	s.stop()
	s.o.Server.CAFile = ""
	s.start()
	s.state("not trusted", func(st bridge.State) bool { return strings.Contains(st.Why, "certificate") && !st.Connected })
}
