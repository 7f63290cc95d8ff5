package dropbox_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// A cutDisk models the state in which a power cut after some steps may leave a file
// system. All synced data is durable. The state of the following is unknown:
//
//   - The bytes of a file that was not synced: the file may contain all, none or some of
//     its bytes, or NULs.
//   - A name in a folder that was not synced: each name may independently have its current
//     state or any state since the folder's last sync. The disk guarantees only that a
//     rename never loses the file. The old name may therefore remain beside the new one,
//     but it does not disappear before the new one exists.
//
// This model is strict: it allows every state that POSIX allows, except those that a
// journal, a log or soft updates rule out. A weaker model (kindImages) also preserves the
// order of name changes, as ext4 and xfs do.
type cutDisk struct {
	root *inode
	last int // index of the newest event
	sync int // index of the newest event that was a sync
}

// An inode is a file or a folder.
type inode struct {
	names   map[string]*slot // the names in a folder; nil for a file
	data    []byte
	written bool // writing the content has begun
	synced  bool
}

// A slot is a name in a folder, with all files and folders that the name has referred to
// since the folder was last synced.
type slot struct {
	past []change // the first change is durable
	from int      // number of older changes that were dropped
}

// A change makes a name refer to a file or folder, or removes the name.
type change struct {
	to   *inode
	at   int   // index of the event
	dest *slot // if a rename removed the name, its new name
	must int   // number of changes to dest that must precede this one
}

func newFolder() *inode { return &inode{names: make(map[string]*slot)} }

func (s *slot) now() *inode { return s.past[len(s.past)-1].to }

// settle makes the first n changes durable.
func (s *slot) settle(n int) {
	for n -= s.from; n > 1; n-- {
		s.from++
		s.past = s.past[1:]
		if c := s.past[0]; c.dest != nil {
			c.dest.settle(c.must)
		}
	}
}

func (s *slot) set(c change) (n int) {
	s.past = append(s.past, c)
	return s.from + len(s.past)
}

// slotAt looks up a name in the current state of the running system; it returns nil if the
// name's folder does not exist.
func (d *cutDisk) slotAt(name string) *slot {
	at := d.root
	parts := strings.Split(name, "/")
	for _, part := range parts[:len(parts)-1] {
		s := at.names[part]
		if s == nil || s.now() == nil || s.now().names == nil {
			return nil
		}
		at = s.now()
	}
	part := parts[len(parts)-1]
	if at.names[part] == nil {
		at.names[part] = &slot{past: []change{{}}}
	}
	return at.names[part]
}

func (d *cutDisk) folderAt(name string) *inode {
	if name == "." {
		return d.root
	}
	if s := d.slotAt(name); s != nil && s.now() != nil {
		return s.now()
	}
	return nil
}

// An event is a step together with the bytes that it wrote.
type event struct {
	dropbox.Step
	data []byte
}

// apply updates the model the way the kernel handles the step; this may change nothing.
func (d *cutDisk) apply(e event) error {
	d.last++
	s := d.slotAt(e.Name)
	var is *inode
	if e.Op == dropbox.OpSyncDir {
		is = d.folderAt(e.Name)
	} else if s != nil {
		is = s.now()
	}
	switch e.Op {
	case dropbox.OpMkdir:
		if s != nil && is == nil {
			s.set(change{to: newFolder(), at: d.last})
		}
		return nil
	case dropbox.OpCreate:
		if s != nil && is == nil {
			s.set(change{to: &inode{}, at: d.last})
		}
		return nil
	}
	if is == nil {
		return nil // the kernel returns ENOENT
	}
	switch e.Op {
	case dropbox.OpWrite:
		is.data, is.written = e.data, true
	case dropbox.OpSync:
		is.synced, d.sync = true, d.last
	case dropbox.OpSyncDir:
		d.sync = d.last
		for _, s := range is.names {
			s.settle(s.from + len(s.past))
		}
	case dropbox.OpLink, dropbox.OpMove, dropbox.OpReplace:
		to := d.slotAt(e.To)
		if to == nil || to.now() == is || to.now() != nil && e.Op != dropbox.OpReplace {
			return nil // the kernel returns ENOENT or EEXIST, or both names refer to one file and rename keeps them
		}
		n := to.set(change{to: is, at: d.last})
		if e.Op != dropbox.OpLink {
			s.set(change{at: d.last, dest: to, must: n})
		}
	case dropbox.OpRemove:
		for _, s := range is.names {
			if s.now() != nil {
				return nil // ENOTEMPTY
			}
		}
		s.set(change{at: d.last})
	default:
		return fmt.Errorf("unknown step %v", e.Step)
	}
	return nil
}

// An image is one possible state of a cutDisk after a cut: it chooses one state for each
// unknown name and file.
type image struct {
	chosen map[*slot]int // index into past; a missing slot means the newest change
	data   map[*inode][]byte
}

// open lists the names and files whose state is unknown, in a fixed order.
func (d *cutDisk) open() (slots []*slot, files []*inode) {
	seen := make(map[*inode]bool)
	var visit func(*inode)
	visit = func(f *inode) {
		if f == nil || seen[f] {
			return
		}
		seen[f] = true
		if f.names == nil && !f.synced {
			files = append(files, f)
		}
		for _, name := range slices.Sorted(maps.Keys(f.names)) {
			s := f.names[name]
			if len(s.past) > 1 {
				slots = append(slots, s)
			}
			for _, c := range s.past {
				visit(c.to)
			}
		}
	}
	visit(d.root)
	return slots, files
}

// possible reports whether every renamed file still has a name in the image.
func (im image) possible() bool {
	for s, i := range im.chosen {
		for _, c := range s.past[:i+1] {
			if c.dest == nil {
				continue
			}
			have, ok := im.chosen[c.dest]
			if !ok {
				have = len(c.dest.past) - 1
			}
			if c.dest.from+have+1 < c.must {
				return false
			}
		}
	}
	return true
}

// rests returns the possible contents of an unsynced file after a cut.
func (f *inode) rests() [][]byte {
	if !f.written {
		return [][]byte{nil}
	}
	return [][]byte{f.data, nil, f.data[:len(f.data)/2], make([]byte, len(f.data))}
}

// kindImages returns the images of a disk that preserves the order of name changes: the
// cut can come after any event since the last sync.
func (d *cutDisk) kindImages() []image {
	slots, files := d.open()
	var all []image
	for k := d.sync; k <= d.last; k++ {
		for _, whole := range []bool{true, false} {
			im := image{chosen: make(map[*slot]int), data: make(map[*inode][]byte)}
			for _, s := range slots {
				for i, c := range s.past {
					if i == 0 || c.at <= k {
						im.chosen[s] = i
					}
				}
			}
			for _, f := range files {
				if !whole {
					im.data[f] = nil
				}
			}
			if all = append(all, im); len(files) == 0 {
				break
			}
		}
	}
	return all
}

// strictImages returns all possible images, or a random selection if there are too many.
func (d *cutDisk) strictImages(most int, rng *rand.Rand) []image {
	slots, files := d.open()
	total := 1
	for _, s := range slots {
		total = min(total*len(s.past), most+1)
	}
	for _, f := range files {
		total = min(total*len(f.rests()), most+1)
	}
	pick := func(next func(n int) int) image {
		im := image{chosen: make(map[*slot]int), data: make(map[*inode][]byte)}
		for _, s := range slots {
			im.chosen[s] = next(len(s.past))
		}
		for _, f := range files {
			rests := f.rests()
			im.data[f] = rests[next(len(rests))]
		}
		return im
	}
	var all []image
	for i := range min(total, most) {
		im := pick(func(n int) int {
			if total > most {
				return rng.IntN(n)
			}
			digit := i % n
			i /= n
			return digit
		})
		if im.possible() {
			all = append(all, im)
		}
	}
	return all
}

// materialise writes the image into dir, a folder that does not exist yet.
func (d *cutDisk) materialise(dir string, im image) error {
	made := make(map[*inode]string)
	var build func(f *inode, path string) error
	build = func(f *inode, path string) error {
		if f.names == nil {
			if first, ok := made[f]; ok {
				return os.Link(first, path)
			}
			made[f] = path
			data, ok := im.data[f]
			if !ok {
				data = f.data
			}
			return os.WriteFile(path, data, 0o600)
		}
		if err := os.Mkdir(path, 0o700); err != nil {
			return err
		}
		for name, s := range f.names {
			i, ok := im.chosen[s]
			if !ok {
				i = len(s.past) - 1
			}
			if c := s.past[i]; c.to != nil {
				if err := build(c.to, filepath.Join(path, name)); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return build(d.root, dir)
}

// files returns the names in the current state of the running system, each with its
// content or with the first name of the same file.
func (d *cutDisk) files() map[string]string {
	files, first := make(map[string]string), make(map[*inode]string)
	var visit func(f *inode, path string)
	visit = func(f *inode, path string) {
		for _, name := range slices.Sorted(maps.Keys(f.names)) {
			to, path := f.names[name].now(), path+name
			switch {
			case to == nil:
			case to.names != nil:
				files[path+"/"] = ""
				visit(to, path+"/")
			case first[to] != "":
				files[path] = "= " + first[to]
			default:
				files[path], first[to] = string(to.data), path
			}
		}
	}
	visit(d.root, "")
	return files
}

// describe formats an image for a report.
func (d *cutDisk) describe(im image) string {
	var b strings.Builder
	names := make(map[*inode]string)
	var visit func(f *inode, path string)
	visit = func(f *inode, path string) {
		for _, name := range slices.Sorted(maps.Keys(f.names)) {
			s := f.names[name]
			i, ok := im.chosen[s]
			if !ok {
				i = len(s.past) - 1
			}
			to := s.past[i].to
			if to == nil {
				continue
			}
			if to.names != nil {
				visit(to, path+name+"/")
				continue
			}
			note := ""
			if first, ok := names[to]; ok {
				note = " = " + first
			} else if data, ok := im.data[to]; ok {
				note = fmt.Sprintf(" with %d of %d bytes", len(data), len(to.data))
			}
			names[to] = path + name
			fmt.Fprintf(&b, "\t%s%s%s\n", path, name, note)
		}
	}
	visit(d.root, "")
	return b.String()
}

// loadDisk loads a folder in which every file is durable.
func loadDisk(t testing.TB, dir string) *cutDisk {
	t.Helper()
	seen := make(map[uint64]*inode)
	var load func(path string) *inode
	load = func(path string) *inode {
		f := newFolder()
		entries, err := os.ReadDir(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			path := filepath.Join(path, e.Name())
			var child *inode
			if e.IsDir() {
				child = load(path)
			} else {
				var st syscall.Stat_t
				if err := syscall.Lstat(path, &st); err != nil {
					t.Fatal(err)
				}
				if child = seen[st.Ino]; child == nil {
					data, err := os.ReadFile(path)
					if err != nil {
						t.Fatal(err)
					}
					child = &inode{data: data, synced: true}
					seen[st.Ino] = child
				}
			}
			f.names[e.Name()] = &slot{past: []change{{to: child}}}
		}
		return f
	}
	return &cutDisk{root: load(dir)}
}
