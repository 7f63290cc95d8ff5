package main

import "testing"

func TestNothingInATextSteersTheTerminal(t *testing.T) {
	const text = "a\x1b[2Jb\x07\r\n\u009b31mc\td\u202ecod\u202c \u2066x\u2069 \u05d0\u200f é 🎉"
	if got, want := plain(text), "a[2Jb\n31mc\tdcod x \u05d0\u200f é 🎉"; got != want {
		t.Errorf("plain = %q, want %q", got, want)
	}
	if got, want := oneLine(text), "a [2Jb 31mc d cod x \u05d0\u200f é 🎉"; got != want {
		t.Errorf("oneLine = %q, want %q", got, want)
	}
}
