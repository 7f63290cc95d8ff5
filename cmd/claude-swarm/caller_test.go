package main

import (
	"sync"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/discovery"
	"github.com/claude-swarm/claude-swarm/internal/lineage"
)

// While a daemon starts, its lock file contains nothing, or the note of a daemon that was
// killed. A process that sees the daemon's processes then decides by itself who it is.
func TestWhoAmIWhileTheDaemonStarts(t *testing.T) {
	var all sync.WaitGroup
	here := lineage.PIDNamespace()
	for name, c := range map[string]struct {
		first, then *discovery.Note
		refused     bool
	}{
		"the note of a killed daemon":   {first: &discovery.Note{PID: 1 << 30, Socket: "/nowhere/s", Namespace: here}},
		"of an earlier version":         {first: &discovery.Note{PID: 1 << 30, Socket: "/nowhere/s"}},
		"no note yet":                   {then: &discovery.Note{PID: 1 << 30, Socket: "/nowhere/s", Namespace: here}},
		"no note":                       {},
		"a former daemon elsewhere":     {first: &discovery.Note{PID: 2, Namespace: "pid:[1]"}, then: &discovery.Note{PID: 2, Namespace: here}},
		"a silent daemon elsewhere":     {first: &discovery.Note{PID: 2, Socket: "/nowhere/s", Namespace: "pid:[1]"}, refused: true},
		"elsewhere, with a pid of ours": {first: &discovery.Note{PID: 1, Socket: "/nowhere/s", Namespace: "pid:[1]"}, refused: true},
	} {
		p := shortProject(t)
		release, err := lockDaemon(p.home)
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		write := func(n *discovery.Note) {
			if n == nil {
				return
			}
			if err := n.Write(p.home.LockFile()); err != nil {
				t.Error(err)
			}
		}
		write(c.first)
		all.Go(func() {
			written := make(chan struct{})
			time.AfterFunc(50*time.Millisecond, func() { write(c.then); close(written) })
			me, err := whoAmI(t.Context(), p.dir)
			<-written
			if c.refused != (err != nil) || err == nil && me.Name != dropbox.Lead {
				t.Errorf("%s: whoAmI = %v, %v, want refused: %v", name, me, err, c.refused)
			}
		})
	}
	all.Wait()
}
