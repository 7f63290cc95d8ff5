// Package docs contains the manual and no code except for tests, which read the manual and
// compare it with the program's own descriptions. `make lint` runs them. The folder dev
// contains the pages for the authors of this program, and of programs that talk to it.
//
// The references for the configuration, the command line and the tools, and the schema of
// `status --json`, are generated from the program. On each page, the generated part is
// between two marks, and UPDATE=1 go test ./docs rewrites it. The targets of links must exist, and so must the verbs, flags and
// keys on the pages. Package docs/shown runs the commands that the pages show.
package docs
