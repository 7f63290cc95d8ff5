// Package durable writes small files whole, and adds lines to long ones. Of a file that is
// written whole a reader sees the old content or the new one, never a part, and so does a
// power cut.
//
//	create .NAME.xxxx   a temporary file in the same folder
//	write, sync         its content is on the disk before it gets its name
//	rename              .NAME.xxxx -> NAME, or link where NAME must not be replaced
//	sync the folder     so is the name
//
// When [Files.Write] returns nil, all of it has happened. What fails before the rename
// leaves the old file; then the temporary file is removed. A crash may leave a temporary
// file, which nobody reads.
//
// [Files.Append] adds a line to a file, and syncs the file; a new one gets its name for good
// by a sync of the folder. A crash may leave a part of the line at the end. A reader takes
// what has a newline, and the next line begins behind it.
//
// [Options].Volatile leaves the syncs out, for a file that may be missing or old after a
// power cut. It is still whole for every reader.
//
// Every change on disk is first put to [Files].Step, so that a test can record the order of
// changes, or refuse one.
package durable
