// Package durable replaces small files, and adds lines to long ones. A reader of a
// replaced file sees the old content or the new content, never a part of it. This is also
// true after a power cut.
//
//	create .NAME.xxxx   a temporary file in the same folder
//	write, sync         its content is on the disk before it gets its name
//	rename              .NAME.xxxx -> NAME, or link where NAME must not be replaced
//	sync the folder     its name is on the disk, too
//
// When [Files.Write] returns nil, all steps are done. A failure before the rename leaves
// the old file, and the temporary file is removed. A crash may leave a temporary file,
// which nothing reads.
//
// [Files.Append] adds a line to a file and syncs the file. If the file is new or empty, it
// first syncs the folder. A crash may leave a part of the line at the end. A reader must
// accept only lines with a newline; the next append ends the torn line.
//
// [Options].Volatile is for a file that may be missing, old or incomplete after a power
// cut. It omits these syncs, except the sync of the folder before the first append. Until
// a power cut, every reader of a replaced file still sees a complete file.
//
// [Files].Step is called before each of these changes on disk, so that a test can record the
// order of the changes, or refuse one of them.
package durable
