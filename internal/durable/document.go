package durable

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"reflect"
	"sync"
)

// A Doc is one JSON document, in memory and in a file. The process that opened it is the
// only one that writes the file; others may read it with [ReadJSON]. A Doc is safe for
// concurrent use.
//
// A change is made to a copy, so a value that [Doc.Get] returned never changes. The copy has
// its own map or slice if T is a map or a slice, and its own maps and slices in the exported
// fields if T is a struct. Everything further down is shared with the original, such as a
// value behind a pointer, or a slice in a map: a change replaces it and does not modify it.
// The maps of a document are never nil.
type Doc[T any] struct {
	files Files
	path  string
	keep  bool

	mu      sync.Mutex
	value   T
	unsaved bool // a change that was kept in memory has not been written
}

// DocOptions are the options of a [Doc]. With the zero value, a change that cannot be
// written is undone.
type DocOptions struct {
	// Lost and Next are those of the [*DamagedError] if the file is damaged.
	Lost, Next string
	// Keep says that a change that cannot be written stays in memory. The next change or
	// [Doc.CatchUp] writes it.
	Keep bool
}

// OpenDoc reads the document in the file at path. If the file is missing, the document is
// empty, and its first change creates the file. After an error, the document is empty and
// usable, and its first change replaces the file. If the file is damaged, the error is a
// [*DamagedError].
func OpenDoc[T any](files Files, path string, o DocOptions) (*Doc[T], error) {
	d := &Doc[T]{files: files, path: path, keep: o.Keep}
	var read T
	err := ReadJSON(path, &read)
	if e, ok := errors.AsType[*DamagedError](err); ok {
		e.Lost, e.Next = o.Lost, o.Next
	}
	d.value = copied(read)
	return d, err
}

// Get returns the document. The caller must not change the maps and slices in it.
func (d *Doc[T]) Get() T {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.value
}

// Change calls f with a copy of the document, and writes the copy durably. If f returns
// false, it has changed nothing: the copy is dropped and nothing is written. f must not call
// a method of the document.
func (d *Doc[T]) Change(f func(*T) (changed bool)) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	before, next := d.value, copied(d.value)
	if !f(&next) {
		return nil
	}
	d.value = next
	err := d.write()
	if err != nil && !d.keep {
		d.value = before
	}
	return err
}

// ChangeMemory calls f, which changes the document in memory only. The next change writes
// what f changed.
func (d *Doc[T]) ChangeMemory(f func(*T)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	next := copied(d.value)
	f(&next)
	d.value = next
}

// CatchUp writes the changes that could not be written earlier, if there are any. See
// [DocOptions].Keep.
func (d *Doc[T]) CatchUp() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.unsaved {
		return nil
	}
	return d.write()
}

// Restore writes the document if another program has deleted its file, unless the document
// is empty.
func (d *Doc[T]) Restore() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, err := os.Lstat(d.path); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var zero T
	empty, err := encoded(copied(zero))
	if err != nil {
		return err
	}
	if now, err := encoded(d.value); err != nil || bytes.Equal(now, empty) {
		return err
	}
	return d.write()
}

// write writes the document. The caller holds mu.
func (d *Doc[T]) write() error {
	err := d.files.WriteJSON(d.path, d.value)
	d.unsaved = err != nil && d.keep
	return err
}

// copied returns a copy of a document with its own maps and slices; see [Doc].
func copied[T any](of T) T {
	v := reflect.ValueOf(&of).Elem()
	unshare(v)
	if v.Kind() == reflect.Struct {
		for i := range v.NumField() {
			if field := v.Field(i); field.CanSet() {
				unshare(field)
			}
		}
	}
	return of
}

// unshare replaces a map or a slice by a copy, and a nil map by an empty one.
func unshare(v reflect.Value) {
	switch v.Kind() {
	case reflect.Map:
		own := reflect.MakeMapWithSize(v.Type(), v.Len())
		for all := v.MapRange(); all.Next(); {
			own.SetMapIndex(all.Key(), all.Value())
		}
		v.Set(own)
	case reflect.Slice:
		if !v.IsNil() {
			own := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			reflect.Copy(own, v)
			v.Set(own)
		}
	}
}
