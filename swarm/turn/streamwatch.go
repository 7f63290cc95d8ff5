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
}

// NewStreamWatch returns a StreamWatch that watches nothing until Start is called.
func NewStreamWatch() *StreamWatch { return &StreamWatch{wakes: map[string]chan struct{}{}} }

// Start watches dir until ctx is done. It adds its goroutine to wg.
func (s *StreamWatch) Start(dir string, wg *sync.WaitGroup, ctx context.Context) {
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
				s.wake(filepath.Base(ev.Name))
			case _, ok := <-w.Errors: // lost events are harmless, because the backends also poll
				if !ok {
					return
				}
			}
		}
	})
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
