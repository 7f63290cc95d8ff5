package dropbox

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// Proof says that whoever holds the token sent this message to that mailbox:
// HMAC-SHA256 with the token as the key, over the lines
//
//	id
//	to
//	from
//	type
//	sha256(body)
//
// each ended by a newline, in lower-case hexadecimal. The id is in it, so a proof
// cannot be used for a second message; the sender must therefore sign what
// [Store.DeliverSigned] is about to write.
func Proof(token string, m *Message, to string) string {
	body := sha256.Sum256(m.Body)
	mac := hmac.New(sha256.New, []byte(token))
	for _, line := range []string{m.ID, to, m.From, string(m.Type), hex.EncodeToString(body[:])} {
		mac.Write([]byte(line))
		mac.Write([]byte{'\n'})
	}
	return hex.EncodeToString(mac.Sum(nil))
}

// Proven says whether m carries the proof of that token for that mailbox, in a time
// that tells nothing about the token. An empty token proves nothing.
func Proven(token string, m *Message, to string) bool {
	return token != "" && hmac.Equal([]byte(Proof(token, m, to)), []byte(m.Proof))
}
