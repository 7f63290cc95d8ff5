package swarm

import (
	"context"
	"path/filepath"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// grown rings when the stream of a running turn has grown: one watch of the
// turns' folder for all of them. Without it, as where the system's watches are
// used up, the backends look by themselves.
type grown struct {
	mu    sync.Mutex
	bells map[string]chan struct{} // by file name
}

func newGrown() *grown { return &grown{bells: map[string]chan struct{}{}} }

// start watches dir until ctx is done; its goroutine belongs to wg.
func (g *grown) start(dir string, wg *sync.WaitGroup, ctx context.Context) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return
	}
	if err := w.Add(dir); err != nil {
		w.Close()
		return
	}
	wg.Go(func() {
		defer w.Close()
		for {
			select {
			case <-ctx.Done():
				return
			case ev, ok := <-w.Events:
				if !ok {
					return
				}
				g.ring(filepath.Base(ev.Name))
			case _, ok := <-w.Errors: // lost events: the backends look now and then anyway
				if !ok {
					return
				}
			}
		}
	})
}

func (g *grown) ring(name string) {
	g.mu.Lock()
	bell := g.bells[name]
	g.mu.Unlock()
	if bell == nil {
		return
	}
	select {
	case bell <- struct{}{}:
	default:
	}
}

// watch returns a channel that rings when path grows, until unwatch.
func (g *grown) watch(path string) <-chan struct{} {
	bell := make(chan struct{}, 1)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.bells[filepath.Base(path)] = bell
	return bell
}

func (g *grown) unwatch(path string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.bells, filepath.Base(path))
}
