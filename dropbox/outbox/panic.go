package outbox

import (
	"fmt"
	"runtime/debug"
	"strings"
)

// Caught runs f. If f panics, Caught returns the panic and its stack as text, and otherwise "".
// where says what f does. The goroutine that owns the worker panics with the text.
func Caught(where string, f func()) (panicked string) {
	defer func() {
		if p := recover(); p != nil {
			panicked = fmt.Sprintf("%v\n\nin %s:\n%s", p, where, debug.Stack())
		}
	}()
	f()
	return ""
}

// Try is Caught for an attempt. If the attempt panics, Try calls giveUp with the first line of the
// panic: the messages of the attempt could cause the panic again, so giveUp gives them up.
func Try(where string, attempt func(), giveUp func(why string)) (panicked string) {
	panicked = Caught(where, attempt)
	if panicked == "" {
		return ""
	}
	why, _, _ := strings.Cut(panicked, "\n")
	if second := Caught(where, func() { giveUp(why) }); second != "" {
		panicked += "\nand then: " + second
	}
	return panicked
}
