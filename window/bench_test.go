package window_test

import (
	"os"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/window"
)

const ringBytes = 400_000 // 100,000 tokens

// results returns typical tool results of about 2 KB each: source code, test output and
// prose.
func results() []string {
	code, err := os.ReadFile("buffer.go")
	if err != nil {
		panic(err)
	}
	var out []string
	for i := range 64 {
		switch i % 3 {
		case 0:
			at := i * 64
			out = append(out, strings.ToValidUTF8(string(code[at:at+2000]), ""))
		case 1:
			out = append(out, strings.Repeat("ok  \tgithub.com/example/project/internal/mail\t0.034s\n", 38))
		case 2:
			out = append(out, strings.Repeat("The older message asks for a review, so it goes first. ", 36))
		}
	}
	return out
}

// BenchmarkAppend adds results to a full window. The floor copies the same bytes into a
// buffer of the same size. The goal is a fifth of the floor's speed.
func BenchmarkAppend(b *testing.B) {
	texts := results()
	b.Run("floor/copy", func(b *testing.B) {
		buf := make([]byte, ringBytes)
		at, i := 0, 0
		b.SetBytes(int64(len(texts[0])))
		for b.Loop() {
			if at+len(texts[i%64]) > len(buf) {
				at = 0
			}
			at += copy(buf[at:], texts[i%64])
			i++
		}
	})
	b.Run("ours/add-and-evict", func(b *testing.B) {
		w := window.New(window.Options{MaxBytes: ringBytes})
		for w.End() < 2*ringBytes {
			w.AddResult("Bash", texts[0], false)
		}
		b.SetBytes(int64(len(texts[0])))
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			w.AddResult("Bash", texts[i%64], false)
			i++
		}
	})
}

// BenchmarkRender builds the block for a prompt from a full window. The goal is 100 µs for
// 400 KB.
func BenchmarkRender(b *testing.B) {
	w := window.New(window.Options{MaxBytes: ringBytes})
	for _, text := range results() {
		for range 4 {
			w.AddResult("Bash", text, false)
		}
	}
	var body, prompt []byte
	b.SetBytes(int64(w.Len()))
	b.ReportAllocs()
	for b.Loop() {
		body = w.AppendRange(body[:0], w.Start(), w.End())
		prompt = window.Banner(prompt[:0], w.Tokens(), body)
	}
}

// BenchmarkNewest measures finding the part of a window that a hook returns.
func BenchmarkNewest(b *testing.B) {
	w := window.New(window.Options{MaxBytes: ringBytes})
	for _, text := range results() {
		w.AddResult("Bash", text, false)
	}
	for b.Loop() {
		w.Newest(9500)
	}
}
