// Packaging makes the files of a release. `make packages` runs it:
//
//	go run ./packaging [-out DIR] [-platforms OS/ARCH,…] [-nfpm FILE] -version VERSION -- FLAG…
//
// The flags after -- are those with which `make build` builds the program, so that the
// program in a package has the same bytes as the one that make builds.
//
//	source ──go build──> program of a platform ──> .tar.gz, .deb, .rpm, npm's .tgz ──> checksums.txt
//	the program's help ──> manual pages, completions ──> in each package
//	CHANGELOG.md ──> release-notes.md
//
// The files depend only on the commit, the version and the toolchain: not on the folder, the
// user, the time or the locale. Two builds of a commit have the same bytes. Everything in a
// package has the time of the commit, or SOURCE_DATE_EPOCH if that is set.
package main
