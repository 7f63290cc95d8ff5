package main

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed equivalents.txt
var equivalentsText string

// parseEquivalents reads the list of mutants that no test can detect. The name of each
// mutant is followed by lines that begin with a tab and state the reason.
func parseEquivalents(text string) (map[string]string, error) {
	reasons := map[string]string{}
	name := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		reason, isReason := strings.CutPrefix(line, "\t")
		switch {
		case strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#"):
		case isReason && name == "":
			return nil, fmt.Errorf("a reason without a mutant: %s", reason)
		case isReason:
			reasons[name] = strings.TrimSpace(reasons[name] + " " + strings.TrimSpace(reason))
		default:
			if _, ok := reasons[line]; ok {
				return nil, fmt.Errorf("%s is there twice", line)
			}
			name = line
			reasons[name] = ""
		}
	}
	for name, reason := range reasons {
		if reason == "" {
			return nil, fmt.Errorf("%s has no reason", name)
		}
	}
	return reasons, nil
}

// unknown returns the listed equivalents for which no mutant is generated, for example
// because the code has changed.
func unknown(reasons map[string]string, all []mutant) []string {
	there := map[string]bool{}
	for _, m := range all {
		there[m.id()] = true
	}
	var out []string
	for name := range reasons {
		if !there[name] {
			out = append(out, name)
		}
	}
	return out
}
