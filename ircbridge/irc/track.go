package irc

import "strings"

// track updates the session from the server's messages about this connection, the server
// and the joined channels. free reports whether the wanted nick might now be free.
func (s *session) track(m Message) (free bool) {
	mine := s.me(m.Nick())
	room := s.rooms[s.fold.Fold(m.Param(0))]
	who := s.fold.Fold(m.Nick())
	switch m.Command {
	case "005":
		s.isup.add(m.Params)
		s.fold = s.isup.CaseMapping()
	case "JOIN":
		if mine {
			s.learn(m.Source)
			s.stays++
			r := newRoom(m.Param(0), who, m.Nick())
			r.stay = s.stays
			s.rooms[s.fold.Fold(m.Param(0))] = r
		} else if room != nil {
			room.members[who] = m.Nick()
		}
	case "PART":
		if mine {
			delete(s.rooms, s.fold.Fold(m.Param(0)))
		} else if room != nil {
			delete(room.members, who)
		}
	case "KICK":
		if s.me(m.Param(1)) {
			delete(s.rooms, s.fold.Fold(m.Param(0)))
		} else if room != nil {
			delete(room.members, s.fold.Fold(m.Param(1)))
		}
	case "QUIT":
		for _, r := range s.rooms {
			delete(r.members, who)
		}
		free = s.wants(m.Nick())
	case "KILL":
		if s.me(m.Param(0)) && s.refused == nil {
			s.refused = &Refused{Code: "KILL", Text: m.Last()}
		}
	case "NICK":
		for _, r := range s.rooms {
			if _, ok := r.members[who]; ok {
				delete(r.members, who)
				r.members[s.fold.Fold(m.Param(0))], r.ranks[s.fold.Fold(m.Param(0))] = m.Param(0), r.ranks[who]
			}
		}
		if mine {
			s.rename(m.Param(0), "", "")
		} else {
			free = s.wants(m.Nick())
		}
	case "CHGHOST":
		if mine {
			s.rename("", m.Param(0), m.Param(1))
		}
	case "396": // us host :is now your displayed host
		user, host, ok := strings.Cut(m.Param(1), "@")
		if !ok {
			user, host = "", m.Param(1)
		}
		s.rename("", user, host)
	case "ACCOUNT":
		if mine {
			s.account = strings.TrimSuffix(m.Param(0), "*")
		}
	case "900": // us nick!user@host account :text
		s.account = m.Param(2)
	case "901":
		s.account = ""
	case "331", "332", "TOPIC": // us channel :topic; TOPIC has no us
		name, topic := m.Param(len(m.Params)-2), m.Last()
		if m.Command == "331" {
			topic = ""
		}
		if r := s.rooms[s.fold.Fold(name)]; r != nil {
			r.topic = topic
		}
	case "353": // us = channel :@nick +nick
		if r := s.rooms[s.fold.Fold(m.Param(2))]; r != nil {
			for nick := range strings.FieldsSeq(m.Last()) {
				signed, _, _ := strings.Cut(nick, "!")
				nick = strings.TrimLeft(signed, s.isup.ranks())
				r.members[s.fold.Fold(nick)], r.ranks[s.fold.Fold(nick)] = nick, strings.TrimSuffix(signed, nick)
			}
		}
	}
	return free
}

func newRoom(name, folded, nick string) *room {
	return &room{name: name, members: map[string]string{folded: nick}, ranks: map[string]string{}}
}

// wants reports whether nick is the wanted nick while this connection has a different
// nick.
func (s *session) wants(nick string) bool {
	return !s.me(s.wanted) && s.fold.Same(nick, s.wanted)
}
