package merge

import "strings"

// A Result says whether a verifier accepts a commit.
type Result string

const (
	Green  Result = "green"
	Fail   Result = "red"
	NotRun Result = "not run" // it was stopped, or could not be started; the merge waits
)

// A Verdict says what the configured verifiers found out about a merge.
type Verdict struct {
	Result Result
	By     string   // the names of the verifiers
	Why    string   // one line
	Output []string // its last lines
}

// unverified is the verdict where no verifier is configured.
const unverified = "unverified"

// String returns the verdict in a few words.
func (v Verdict) String() string {
	if v.Result == "" {
		return unverified
	}
	return strings.TrimPrefix(v.By+": "+string(v.Result), ": ")
}

// trailer returns the value of the commit's trailer Verified.
func (v Verdict) trailer() string {
	if v.Result == "" {
		return "no"
	}
	return v.By
}
