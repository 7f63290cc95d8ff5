package runner

import "strings"

// Recorded is the work of a client's tools, as the client's recorded output shows it.
// [Kind].Recorded reads it.
type Recorded struct {
	Changes []FileChange // in the order in which they were made
	// Others are the calls that may have changed something that the output does not show:
	// command lines, and the names of other tools.
	Others []string
	// Unread is the number of lines that could not be read, because they are too long or
	// damaged. A line that is still being written does not count.
	Unread int

	kept int // the bytes of the texts in Changes
}

// A FileChange is one write of a file by a client's own tool.
type FileChange struct {
	Path    string // as the client names it
	Created bool   // the file did not exist
	Deleted bool
	// Before and After are the contents of the file. If Passage is set, they are only the
	// passage that was replaced, and where it is in the file is not known. If Overwritten
	// is set, Before is not known. Both are "" if Untold is set.
	Before, After string
	Passage       bool
	Overwritten   bool
	Untold        Untold // why the contents are not known; "" if they are
}

// Untold is the reason why the contents of a change are not known.
type Untold string

// These are the reasons.
const (
	NotReported Untold = "the client does not tell what it changed"
	TooLarge    Untold = "too large"
)

// maxRecorded is the maximum number of bytes of the texts that a Recorded keeps. A client
// prints the whole file for each edit of it.
const maxRecorded = 128 << 20

// Change adds a change.
func (r *Recorded) Change(c FileChange) {
	if c.Untold != "" {
		c.Before, c.After = "", ""
	}
	r.kept += len(c.Before) + len(c.After)
	if r.kept > maxRecorded {
		r.kept -= len(c.Before) + len(c.After)
		c.Before, c.After, c.Untold = "", "", TooLarge
	}
	r.Changes = append(r.Changes, c)
}

// Other adds a call that may have changed something. It returns false for a call that cannot.
func (r *Recorded) Other(tools Tools, tool string, input []byte) bool {
	if !Acts(tools, tool, input) {
		return false
	}
	if line := tools.Runs(tool, input); line != "" {
		tool = line
	}
	r.Others = append(r.Others, tool)
	return true
}

// A Replacement is the replacement of a passage in a file.
type Replacement struct {
	Old, New string
	All      bool // replace each occurrence, not only the first
}

// Edit sets what the replacements change in the file. before is the content of the file
// before them, or nil if the client does not tell it.
func (f *FileChange) Edit(before *string, replacements []Replacement) {
	if len(replacements) == 0 {
		f.Untold = NotReported
		return
	}
	if before != nil {
		after, ok := *before, true
		for _, r := range replacements {
			switch {
			case r.Old == "" && after == "":
				after, f.Created = r.New, *before == ""
			case r.Old == "" || !strings.Contains(after, r.Old):
				ok = false
			case r.All:
				after = strings.ReplaceAll(after, r.Old, r.New)
			default:
				after = strings.Replace(after, r.Old, r.New, 1)
			}
		}
		if ok {
			f.Before, f.After = *before, after
			return
		}
		f.Created = false
	}
	f.Passage = true
	for _, r := range replacements {
		f.Before, f.After = f.Before+ended(r.Old), f.After+ended(r.New)
	}
}

// ended returns a passage with a line break at its end: in the file, a line may continue after
// it.
func ended(passage string) string {
	if passage == "" || strings.HasSuffix(passage, "\n") {
		return passage
	}
	return passage + "\n"
}
