package journal

import "strings"

// The words about work that a verifier judged.
const (
	WorkVerified   = "verified"   // every verifier was green
	WorkUnverified = "unverified" // nothing is known: nothing was committed, or a verifier could not be run
	WorkFailed     = "failed"     // a verifier was red
)

// A Verification says what the verifiers of an agent found out about the commit of a turn. Package verify
// runs them.
type Verification struct {
	Word   string `yaml:"word" json:"word"`
	Why    string `yaml:"why,omitempty" json:"why,omitempty"` // such as "test: red, exit status 2"
	Commit string `yaml:"commit,omitempty" json:"commit,omitempty"`
	// TestsChanged are the tests and protected files that the branch changes.
	TestsChanged []string `yaml:"tests_changed,omitempty" json:"tests_changed,omitempty"`
	// Output contains the last lines of a red verifier. Only a turn's record has them.
	Output []string `yaml:"-" json:"output,omitempty"`
}

// Line returns the verification as one line for a person, such as "Failed: test: red, exit status 2.".
func (p *Verification) Line() string {
	line := strings.ToUpper(p.Word[:1]) + p.Word[1:] + ": " + p.Why
	if p.Commit != "" {
		line += ", at commit " + p.Commit[:min(len(p.Commit), 12)]
	}
	line += "."
	if n := len(p.TestsChanged); n > 0 {
		const most = 5
		line += " Tests changed: " + strings.Join(p.TestsChanged[:min(n, most)], ", ")
		if n > most {
			line += " and more"
		}
		line += "."
	}
	return line
}

// Filed returns the verification for a receipt, without the output. It may be nil.
func (p *Verification) Filed() *Verification {
	if p == nil {
		return nil
	}
	filed := *p
	filed.Output = nil
	return &filed
}
