package dropbox

import (
	"errors"
	"slices"
	"strings"
)

// maxDepends is the maximum number of messages on which a message can depend, also indirectly.
const maxDepends = 256

// checkDependsOn returns an [*InvalidError] if a message depends on a message that does not
// exist, or if its dependencies form a cycle. Only messages that were written by hand can form
// one, because a message depends on messages that were there before it.
func (s *Store) checkDependsOn(m *Message) error {
	known := map[string]bool{}
	var follow func(m *Message, chain []string) error
	follow = func(m *Message, chain []string) error {
		for _, id := range m.DependsOn {
			if i := slices.Index(chain, id); i >= 0 {
				return invalid("depends_on: the messages wait for each other: %s", strings.Join(append(chain[i:], id), ", "))
			}
			if known[id] {
				continue
			}
			if known[id] = true; len(known) > maxDepends {
				return invalid("depends_on names more than %d messages, also indirectly", maxDepends)
			}
			other, err := s.Message(id)
			switch {
			case errors.Is(err, ErrNotFound) && len(chain) == 1:
				return invalid("depends_on: there is no message %s", id)
			case errors.Is(err, ErrNotFound), errors.Is(err, ErrInvalid), errors.Is(err, ErrTooLarge):
				continue
			case err != nil:
				return err
			}
			if err := follow(other, append(slices.Clone(chain), id)); err != nil {
				return err
			}
		}
		return nil
	}
	return follow(m, []string{m.ID})
}
