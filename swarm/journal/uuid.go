package journal

import (
	"crypto/rand"
	"crypto/sha1"
	"fmt"
)

// RandomUUID returns a version 4 UUID (RFC 9562).
func RandomUUID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	return formatUUID(b, 4)
}

// promptSpace is the namespace of the UUIDs of prompts.
var promptSpace = [16]byte{0x9d, 0x2c, 0x11, 0x5e, 0x4b, 0x8a, 0x4c, 0x0f, 0x8f, 0x21, 0x6a, 0x37, 0xc4, 0x90, 0x5d, 0xe2}

// PromptUUID returns the version 5 UUID (RFC 9562) of one attempt at a message. The CLI
// runs a prompt with a given UUID only once, even in a later process. So each attempt has
// a different UUID, and the prompt can safely be sent twice within one attempt.
func PromptUUID(turn string) string {
	h := sha1.New()
	h.Write(promptSpace[:])
	h.Write([]byte(turn))
	return formatUUID([16]byte(h.Sum(nil)[:16]), 5)
}

func formatUUID(b [16]byte, version byte) string {
	b[6] = b[6]&0x0f | version<<4
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
