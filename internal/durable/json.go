package durable

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
)

// ReadJSON decodes the file at path into v. A missing file leaves v unchanged, and so does a
// damaged one, for which the error is a [*DamagedError].
func ReadJSON[T any](path string, v *T) error {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	var read T
	if err := json.Unmarshal(data, &read); err != nil {
		return &DamagedError{Path: path, Err: err}
	}
	*v = read
	return nil
}

// WriteJSON durably writes a value as indented JSON.
func (f Files) WriteJSON(path string, v any) error {
	data, err := encoded(v)
	if err != nil {
		return err
	}
	return f.Write(path, Options{}, data)
}

func encoded(v any) ([]byte, error) {
	data, err := json.MarshalIndent(v, "", "  ")
	return append(data, '\n'), err
}
