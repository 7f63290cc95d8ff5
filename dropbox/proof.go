package dropbox

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"strconv"
	"strings"
	"time"
)

// proofMark is the prefix of a proof that covers the whole envelope. A proof without it
// covers only id, mailbox, sender, type and body; messages from older versions have such
// proofs.
const proofMark = "v2-"

// Proof returns the proof that a holder of the token sent this message to the given
// mailbox. It is "v2-" and an HMAC-SHA256 in lower-case hexadecimal, with the token as
// the key, over the lines
//
//	mailbox: NAME
//	id, from, to, cc, type, priority, subject, thread, reply_to, trace, key, turn,
//	topic, offer, outcome, hops, path, created, expires: each as "key: value"
//	attachment: SHA256 NAME
//	body: SHA256
//
// in this order, each terminated by a newline. A list has one line for each entry, and an
// empty field has no line. Times are in RFC 3339 format and UTC. Values contain no
// newlines. The proof does not cover unknown keys (Extra). It covers the id, so it cannot
// be reused for another message. Therefore the sender must sign the message that
// [Store.DeliverSigned] is about to write.
func Proof(token string, m *Message, to string) string {
	mac := hmac.New(sha256.New, []byte(token))
	line := func(key string, values ...string) {
		for _, v := range values {
			if v != "" {
				_, _ = io.WriteString(mac, key+": "+v+"\n")
			}
		}
	}
	line("mailbox", to)
	for _, k := range envelope {
		switch v := k.field(m).(type) {
		case *string:
			if v != &m.Proof {
				line(k.name, *v)
			}
		case *Type:
			line(k.name, string(*v))
		case *Priority:
			line(k.name, v.String())
		case *[]string:
			line(k.name, *v...)
		case *int:
			if v != &m.V && *v > 0 {
				line(k.name, strconv.Itoa(*v))
			}
		case *time.Time:
			line(k.name, proofTime(*v))
		}
	}
	for _, a := range m.Attachments {
		line("attachment", a.SHA256+" "+a.Name)
	}
	line("body", bodySum(m))
	return proofMark + sum(mac)
}

// oldProof returns the proof in the format of older versions, which covers the lines id,
// mailbox, from, type and the SHA-256 of the body.
func oldProof(token string, m *Message, to string) string {
	mac := hmac.New(sha256.New, []byte(token))
	for _, line := range []string{m.ID, to, m.From, string(m.Type), bodySum(m)} {
		_, _ = io.WriteString(mac, line+"\n")
	}
	return sum(mac)
}

func bodySum(m *Message) string {
	body := sha256.Sum256(m.Body)
	return hex.EncodeToString(body[:])
}

func sum(mac hash.Hash) string { return hex.EncodeToString(mac.Sum(nil)) }

func proofTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Truncate(time.Microsecond).Format(time.RFC3339Nano)
}

// Proven reports whether m contains a valid proof for the given token and mailbox. It
// compares in constant time. For an empty token the result is false.
func Proven(token string, m *Message, to string) bool {
	if token == "" {
		return false
	}
	want := Proof
	if !strings.HasPrefix(m.Proof, proofMark) {
		want = oldProof
	}
	return hmac.Equal([]byte(want(token, m, to)), []byte(m.Proof))
}
