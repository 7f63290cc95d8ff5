// Package durable writes small files whole: a reader sees the old content or the new one,
// never a part, and so does a power cut.
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
// [Options].Volatile leaves both syncs out, for a file that may be missing or old after a
// power cut. It is still whole for every reader.
//
// Every change on disk is first put to [Files].Step, so that a test can record the order of
// changes, or refuse one.
package durable
