package config

import (
	"errors"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/permission"
)

// Permissions specifies what a client may do if it asks before it uses a tool. The
// entries are valid; see [permission.ParseEntry].
type Permissions struct {
	Allow     []string      `key:"allow" is:"call,added"`
	Ask       []string      `key:"ask" is:"call,added"`
	Deny      []string      `key:"deny" is:"call,added"`
	Otherwise string        `key:"otherwise" type:"allow | ask | deny | null"`
	Timeout   time.Duration `key:"timeout" default:"10m"`
}

// Rules converts the permissions to rules.
func (p Permissions) Rules() permission.Rules {
	return permission.Rules{
		Allow: entries(p.Allow), Ask: entries(p.Ask), Deny: entries(p.Deny),
		Otherwise: permission.Answer(p.Otherwise), Timeout: p.Timeout,
	}
}

func entries(texts []string) (all []permission.Entry) {
	for _, text := range texts {
		if e, err := permission.ParseEntry(text); err == nil { // checked before
			all = append(all, e)
		}
	}
	return all
}

// call reads one entry in the permissions.
func call(_ *reader, s string) (string, *Error) {
	entry, err := permission.ParseEntry(s)
	if bad, ok := errors.AsType[*permission.KindError](err); ok {
		e := wrong("", "%q: %v", s, bad)
		e.Near = dropbox.Nearest(bad.Word, permission.Kinds())
		return "", e
	} else if err != nil {
		return "", wrong("", "%v", err)
	}
	return entry.String(), nil
}
