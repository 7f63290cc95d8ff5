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

// A Version1 is the field "v" of a file in the first version of its format. It is written
// as 1, whatever number was read, because the fields beside it are those that this program
// knows.
type Version1 struct{}

// MarshalJSON implements [json.Marshaler].
func (Version1) MarshalJSON() ([]byte, error) { return []byte("1"), nil }

// UnmarshalJSON implements [json.Unmarshaler]. Any whole number is accepted.
func (*Version1) UnmarshalJSON(data []byte) error {
	var number int
	return json.Unmarshal(data, &number)
}
