package verify

import (
	"errors"
	"path"
	"slices"
	"strings"
)

// A pattern selects files by their path in the repository. It is like a line of .gitignore:
//
//	*_test.go     files and folders with such a name, in any folder
//	ci/           everything in each folder with that name
//	/ci, a/b.sh   a pattern with a slash before its end begins at the root of the repository
//	a/**/*.snap   ** stands for any number of folders
//
// A folder that matches includes everything in it.

// CheckPattern returns an error if no path can match a pattern.
func CheckPattern(pattern string) error {
	p := strings.Trim(pattern, "/")
	switch {
	case p == "":
		return errors.New("it is empty")
	case strings.HasPrefix(pattern, "!"):
		return errors.New("a pattern cannot be negated")
	}
	for part := range strings.SplitSeq(p, "/") {
		if part == "." || part == ".." {
			return errors.New("want a path from the root of the repository")
		}
		if _, err := path.Match(part, ""); err != nil {
			return errors.New("a [ is not closed, or a \\ is last")
		}
	}
	return nil
}

// matches reports whether one of the patterns selects a file.
func matches(patterns []string, file string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return match(p, file) })
}

func match(pattern, file string) bool {
	parts, in := strings.Split(file, "/"), strings.HasSuffix(pattern, "/")
	pattern = strings.TrimSuffix(pattern, "/")
	if !strings.Contains(pattern, "/") {
		if in {
			parts = parts[:len(parts)-1]
		}
		return slices.ContainsFunc(parts, func(part string) bool {
			ok, _ := path.Match(pattern, part)
			return ok
		})
	}
	return matchFrom(strings.Split(strings.TrimPrefix(pattern, "/"), "/"), parts, in)
}

// matchFrom reports whether a pattern matches a path or one of its folders. in says that it must
// be a folder.
func matchFrom(pattern, parts []string, in bool) bool {
	switch {
	case len(pattern) == 0:
		return !in || len(parts) > 0
	case pattern[0] == "**":
		for i := range len(parts) + 1 {
			if matchFrom(pattern[1:], parts[i:], in) {
				return true
			}
		}
		return false
	case len(parts) == 0:
		return false
	}
	ok, _ := path.Match(pattern[0], parts[0])
	return ok && matchFrom(pattern[1:], parts[1:], in)
}

// tests selects the files that are tests by the conventions of common languages. A change of one
// is told; it is not undone.
var tests = []string{
	"*_test.*", "test_*.*", "*.test.*", "*.spec.*", "*_spec.*", "*Test.*", "*Tests.*", "*Spec.*", "conftest.py",
	"test/", "tests/", "spec/", "specs/", "e2e/", "testdata/", "__tests__/", "__snapshots__/", "fixtures/",
	"pytest.ini", "tox.ini", "jest.config.*", "vitest.config.*", "playwright.config.*", ".github/workflows/*", ".gitattributes",
}

// isTest reports whether a change of a file may change what a verifier tests: a test, a file whose
// path is in the command line, or the file of rules that make reads.
func (s Settings) isTest(file string) bool {
	words := strings.FieldsFunc(s.Run, func(r rune) bool { return strings.ContainsRune(" \t\n;&|()<>\"'=`", r) })
	named := slices.ContainsFunc(words, func(w string) bool { return path.Clean(w) == file })
	made := slices.Contains(words, "make") && slices.Contains([]string{"Makefile", "makefile", "GNUmakefile"}, file)
	return named || made || matches(tests, file)
}
