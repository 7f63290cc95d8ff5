package dropbox

import "testing"

// The names of litter, and names that are messages although they look similar.
func TestLitterKind(t *testing.T) {
	for name, want := range map[string]LitterKind{
		".DS_Store": LitterSystem, "._task.md": LitterSystem, "desktop.ini": LitterSystem, "Thumbs.db": LitterSystem, "Icon\r": LitterSystem,
		"~$plan.docx": LitterIncomplete, ".~lock.plan.odt#": LitterIncomplete, ".#task.md": LitterIncomplete, "#task.md#": LitterIncomplete,
		".task.md.swp": LitterIncomplete, "task.md.part": LitterIncomplete, "Unconfirmed 1.crdownload": LitterIncomplete, "x.TMP": LitterIncomplete,
		"task.sync-conflict-20261128-101010-ABCDEFG.md": LitterSync, "task (Ann's conflicted copy 2026-11-28).md": LitterSync,
		"task.md~": LitterBackup, "task.md.bak": LitterBackup, "task.md.orig": LitterBackup, "task.md.rej": LitterBackup,
		".hidden.md": LitterHidden, ".gitignore": LitterHidden,
		"task.md": "", "#1.md": "", "~task.md": "", "original.md": "", "conflict.md": "", "task": "", "$task.md": "", "x.bak.md": "", "lock.md": "",
	} {
		if got := litterKind(name); got != want {
			t.Errorf("litterKind(%q) = %q, want %q", name, got, want)
		}
	}
}
