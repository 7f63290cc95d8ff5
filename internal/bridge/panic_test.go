package bridge_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/bridge"
)

// A panic in the bridge's goroutine, or in work that runs in parallel with it, reaches the
// caller of Run after everything that the bridge started has ended. The caller can then
// start another bridge.
func TestAPanicEndsTheBridge(t *testing.T) {
	for name, panics := range map[string]func(bridge.Host){
		"in an event":      func(h bridge.Host) { h.Event(func() { panic("a bug") }) },
		"in parallel work": func(h bridge.Host) { h.Do(func() func() { panic("a bug") }) },
		"in a result":      func(h bridge.Host) { h.Do(func() func() { return func() { panic("a bug") } }) },
		"in a late result": func(h bridge.Host) { h.Later(func() { panic("a bug") }) },
	} {
		t.Run(name, func(t *testing.T) {
			f := &lineFiles{dir: t.TempDir()}
			dir := t.TempDir()
			if err := dropbox.Create(dir); err != nil {
				t.Fatal(err)
			}
			store, err := dropbox.Open(dir, dropbox.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			o := bridge.Options{Name: "lines", Title: "Lines", Store: store, Home: t.TempDir(), Channels: bridge.Channels{Project: "#project"}, Agents: func() []string { return nil }}
			run := func(ctx context.Context, l bridge.Link) (panicked string, err error) {
				b, err := bridge.New(o, l)
				if err != nil {
					t.Fatal(err)
				}
				defer func() {
					if p := recover(); p != nil {
						panicked = fmt.Sprint(p)
					}
				}()
				return "", b.Run(ctx)
			}
			l := &brokenLink{fileLink: &fileLink{net: f, in: map[string]bool{}}, panics: panics}
			if panicked, err := run(t.Context(), l); !strings.HasPrefix(panicked, "a bug") {
				t.Fatalf("Run panicked with %q and returned %v, want a panic", panicked, err)
			}
			if !l.ended {
				t.Error("Run returned while the link was still running")
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			next := &brokenLink{fileLink: &fileLink{net: f, in: map[string]bool{}}, panics: func(bridge.Host) { cancel() }}
			if panicked, err := run(ctx, next); panicked != "" || err != nil {
				t.Errorf("the next bridge: panic %q, error %v", panicked, err)
			}
		})
	}
}

// A brokenLink has a bug that it shows as soon as it has connected.
type brokenLink struct {
	*fileLink
	panics func(bridge.Host)
	ended  bool // set when the link's parallel work has ended
}

func (l *brokenLink) Open(stop, kill context.Context, h bridge.Host, joined []string) error {
	h.Do(func() func() {
		l.panics(h)
		return nil
	})
	h.Do(func() func() {
		<-kill.Done()
		l.ended = true
		h.Later(func() {})
		return nil
	})
	return l.fileLink.Open(stop, kill, h, joined)
}
