package dropbox

import "strings"

// Gist is what a message is about, on one line: its subject, else the beginning of its
// text. The mark of the bridge before what a person said on IRC is left out. It may
// steer a terminal.
func (m *Message) Gist() string {
	about := m.Subject
	if about == "" {
		about = strings.ToValidUTF8(string(m.Body[:min(len(m.Body), 400)]), "")
		if _, what, ok := HeardOnIRC(about); ok && m.From == IRC {
			about = what
		}
	}
	return strings.Join(strings.Fields(about), " ")
}

// HeardOnIRC takes apart a text that the bridge brought from IRC: "[IRC where] <who>
// what". ok is false for another text.
func HeardOnIRC(text string) (who, what string, ok bool) {
	if !strings.HasPrefix(text, "[IRC ") {
		return "", "", false
	}
	_, rest, _ := strings.Cut(text, "] <")
	who, what, ok = strings.Cut(rest, "> ")
	return who, what, ok && who != ""
}
