package standin

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// newUUID returns a random UUID. The UUID does not protect a secret, so a fast random
// number generator is sufficient.
func newUUID() string {
	a, b := rand.Uint64(), rand.Uint64()
	return fmt.Sprintf("%08x-%04x-4%03x-%04x-%012x",
		a>>32, a>>16&0xffff, a&0xfff, b>>48&0x3fff|0x8000, b&0xffffffffffff)
}

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

// newID returns a new id in the API's format, which is a prefix and 24 characters.
func newID(prefix string) string {
	id := []byte(prefix + "01")
	for range 22 {
		id = append(id, letters[rand.IntN(len(letters))])
	}
	return string(id)
}

// timestamp returns the current time in the stream's format.
func timestamp() string { return time.Now().UTC().Format("2006-01-02T15:04:05.000Z") }
