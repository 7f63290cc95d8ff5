// Package durable replaces small files, appends lines to long ones, and keeps documents. A
// reader of a replaced file sees either the complete old content or the complete new
// content. This is also true after a power failure.
//
//	create .NAME.xxxx   a temporary file in the same folder
//	write, sync         its content is on the disk before it gets its name
//	rename              .NAME.xxxx -> NAME, or link where NAME must not be replaced
//	sync the folder     its name is on the disk, too
//
// When [Files.Write] returns nil, all steps are done. After a failure before the rename,
// the old file is unchanged and the temporary file is removed. A crash may leave a
// temporary file behind, which no program reads.
//
// [Files.Append] appends a line to a file and syncs the file. If the file is new or empty,
// it first syncs the folder. A crash may leave a partial line at the end. A reader must
// accept only lines that end with a newline. The next append terminates the partial line.
//
// [Options].Volatile is for a file that may be missing, old or incomplete after a power
// failure. It omits these syncs, except the sync of the folder before the first append.
// Without a power failure, every reader of a replaced file still sees a complete file.
//
// A [Doc] is the content of one JSON file, which one process keeps in memory. A store that
// has a file to itself consists of the type of the content, the name of the file, and the
// sentence that says which information is lost with the file:
//
//	type colors struct {
//		V  durable.Version1  `json:"v"`
//		Of map[string]string `json:"of"`
//	}
//
//	doc, err := durable.OpenDoc[colors](files, path, durable.DocOptions{Lost: "the colors are unknown"})
//	…
//	err = doc.Change(func(c *colors) bool { c.Of["sky"] = "blue"; return true })
//
// A change that cannot be written is undone, or with [DocOptions].Keep stays in memory until
// it can be written. If a file is damaged, [OpenDoc] and [ReadJSON] return a [*DamagedError],
// and the caller decides: it returns the error, or it sets the file aside (and tells a
// person, or see [SetAside]), or it goes on without the file ([IgnoreDamage]). A file that
// several processes change is not a Doc: they hold a lock while they use [ReadJSON] and
// [Files.WriteJSON].
//
// [Files].Step is called before each of these changes on disk, so that a test can record the
// order of the changes or refuse one of them.
package durable
