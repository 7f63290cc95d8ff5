package turn

import (
	"context"
	"path/filepath"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// A StreamWatch reports when the stream of a running turn has grown. A single watch on
// the turns folder serves all turns. If this is not possible, for example because the
// system has no watches left, the backends poll instead.
type StreamWatch struct {
	mu    sync.Mutex
	wakes map[string]chan struct{} // channels by file name
	dir   string
	fs    *fsnotify.Watcher // nil if the folder is not watched
}

// NewStreamWatch returns a StreamWatch that watches nothing until Start is called.
func NewStreamWatch() *StreamWatch { return &StreamWatch{wakes: map[string]chan struct{}{}} }

// Start watches dir until ctx is done. It adds its goroutine to wg. If dir is deleted, it
// calls deleted, which must not block.
func (s *StreamWatch) Start(dir string, wg *sync.WaitGroup, ctx context.Context, deleted func()) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return
	}
	if err := w.Add(dir); err != nil {
		w.Close()
		return
	}
	s.mu.Lock()
	s.dir, s.fs = dir, w
	s.mu.Unlock()
	wg.Go(func() {
		defer s.stop()
		for {
			select {
			case <-ctx.Done():
				return
			case ev, ok := <-w.Events:
				if !ok {
					return
				}
				if ev.Name == dir && ev.Has(fsnotify.Remove) {
					deleted()
				}
				s.wake(filepath.Base(ev.Name))
			case _, ok := <-w.Errors: // lost events are harmless, because the backends also poll
				if !ok {
					return
				}
			}
		}
	})
}

// stop ends the watch.
func (s *StreamWatch) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fs.Close()
	s.fs = nil
}

// Rewatch watches the folder again after it was recreated.
func (s *StreamWatch) Rewatch() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fs != nil {
		_ = s.fs.Add(s.dir) // without the watch, the backends poll
	}
}

func (s *StreamWatch) wake(name string) {
	s.mu.Lock()
	wake := s.wakes[name]
	s.mu.Unlock()
	if wake == nil {
		return
	}
	select {
	case wake <- struct{}{}:
	default:
	}
}

// watch returns a channel that receives a value whenever path grows, until unwatch is
// called.
func (s *StreamWatch) watch(path string) <-chan struct{} {
	wake := make(chan struct{}, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wakes[filepath.Base(path)] = wake
	return wake
}

func (s *StreamWatch) unwatch(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.wakes, filepath.Base(path))
}
