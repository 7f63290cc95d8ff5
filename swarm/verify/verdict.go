package verify

import (
	"fmt"
	"time"
)

// A Result says whether a commit is good.
type Result string

const (
	Green  Result = "green"   // the verifier ended with status 0
	Red    Result = "red"     // it ended with another status, or by a signal
	NotRun Result = "not run" // it was stopped, or could not be started; see Verdict.Cause
)

// A Cause says why a verifier has no result.
type Cause string

const (
	TimedOut  Cause = "timeout"   // it was stopped after Settings.Timeout
	OutOfRoom Cause = "memory"    // it was stopped because it used more than Settings.Memory
	NoCommand Cause = "command"   // its shell, its command or the program in run_in does not exist or cannot be executed
	NoTree    Cause = "worktree"  // the working tree could not be made
	Unknown   Cause = "verifier"  // no verifier has this name
	Cut       Cause = "cancelled" // the caller's context was cancelled
)

// A Verdict says what a verifier found out about a commit.
type Verdict struct {
	Verifier string `json:"verifier"`
	Commit   string `json:"commit"`
	// Tree is the tree that was run: that of the commit, with the protected files of the target.
	Tree   string `json:"tree,omitempty"`
	Result Result `json:"result"`
	Cause  Cause  `json:"cause,omitempty"` // set if Result is NotRun
	// Why says in one line what decided, such as "exit status 2".
	Why    string `json:"why,omitempty"`
	Cached bool   `json:"cached,omitempty"` // an earlier run of the same tree was green
	// Changed lists the tests and the protected files that differ between the base and the commit.
	Changed []string `json:"tests_changed,omitempty"`
	// Output contains the last lines that the command printed, at most 100, without the line
	// break at the end.
	Output []string      `json:"output,omitempty"`
	Ended  time.Time     `json:"ended"`
	Took   time.Duration `json:"-"`
}

// String returns the verdict in a few words, such as "test: red, exit status 2".
func (v Verdict) String() string {
	s := v.Verifier + ": " + string(v.Result)
	switch {
	case v.Cached:
		s += ", as in an earlier run of the same files"
	case v.Why != "":
		s += ", " + v.Why
	}
	return s
}

// notRun returns a verdict about a verifier that could not be run.
func (v Verdict) notRun(cause Cause, format string, args ...any) Verdict {
	v.Result, v.Cause, v.Why = NotRun, cause, fmt.Sprintf(format, args...)
	return v
}
