package dropbox

import (
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// editedFor is the time after which the mark of an editor no longer counts, because the
// editor has probably crashed and left the mark behind.
const editedFor = time.Hour

// Edited reports whether an editor has a dropped file open, so that the file may be saved
// again. The editor's mark lies beside the file: the swap file of Vim and Kate, or the lock
// of Emacs, LibreOffice or Word. A swap file that no program has open is left over from a
// crash. Editors that keep their marks elsewhere, as Neovim does, are not detected.
func (drops Drops) Edited(st Stray, now time.Time) bool {
	if st.Kind != KindFile {
		return false
	}
	for _, mark := range editorMarks(st.Name) {
		path := drops.box.name + "/" + mark.name
		found, err := drops.box.disk.stat(path)
		if err != nil {
			continue // the usual case is that there is no such file
		}
		if age := now.Sub(changeTime(&found)); age < 0 || age > editedFor {
			continue
		}
		if !mark.held || found.Mode&unix.S_IFMT != unix.S_IFREG {
			return true
		}
		f, err := drops.box.disk.openRead(path)
		if err != nil {
			continue
		}
		writing := drops.box.store.writing(f)
		f.close()
		if writing != NoWriter {
			return true
		}
	}
	return false
}

// An editorMark is the name of a file that an editor keeps beside the file that it edits.
type editorMark struct {
	name string
	held bool // the editor has the mark open for writing
}

func editorMarks(name string) []editorMark {
	hidden := "." + strings.TrimPrefix(name, ".")
	marks := []editorMark{
		{hidden + ".swp", true}, {hidden + ".swo", true}, {hidden + ".swn", true}, // Vim
		{hidden + ".kate-swp", true},
		{".#" + name, false},            // Emacs, if the text has changed since it was saved
		{".~lock." + name + "#", false}, // LibreOffice
		{"~$" + name, false},            // Word
	}
	if len(name) > 2 {
		marks = append(marks, editorMark{"~$" + name[2:], false}) // Word, for long names
	}
	return marks
}
