package floorplan_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// variable returns the words in the value of a Makefile variable.
func variable(t *testing.T, root, name string) []string {
	t.Helper()
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^` + name + ` *:= *((?:.*\\\n)*.*)$`).FindSubmatch(makefile)
	if found == nil {
		t.Fatalf("the Makefile has no line %s", name)
	}
	return strings.Fields(strings.ReplaceAll(string(found[1]), "\\\n", " "))
}

// go test does not report named tests that do not exist, so this test reports them.
func TestTheClientsTestsAreThere(t *testing.T) {
	root := strings.TrimSpace(goList(t, "-m", "-f", "{{.Dir}}"))
	files, err := filepath.Glob(filepath.Join(root, "internal/e2e/*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	all := ""
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all += string(data)
	}
	names := variable(t, root, "CLIENT_TESTS")
	for _, name := range names {
		if !strings.Contains(all, "\nfunc "+name+"(t *testing.T)") {
			t.Errorf("CLIENT_TESTS of the Makefile names %s, which is not in internal/e2e", name)
		}
	}
	if len(names) < 12 {
		t.Errorf("CLIENT_TESTS of the Makefile has %d tests, want a dozen", len(names))
	}
}

// Each CI stage is a Makefile target, and CONTRIBUTING.md names it.
func TestTheStagesOfCI(t *testing.T) {
	root := strings.TrimSpace(goList(t, "-m", "-f", "{{.Dir}}"))
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	stages := variable(t, root, "STAGES")
	for _, want := range []string{"test", "lint", "race", "e2e-rest", "e2e-oldest", "backends-changed", "demo"} {
		if !slices.Contains(stages, want) {
			t.Errorf("CI has no stage %s: %v", want, stages)
		}
	}
	for _, stage := range stages {
		if !strings.Contains("\n"+string(makefile), "\n"+stage+":") {
			t.Errorf("the Makefile has no target %s", stage)
		}
		if !strings.Contains(string(page), "`"+stage+"`") {
			t.Errorf("CONTRIBUTING.md does not name the stage %s", stage)
		}
	}
}

// The programs for long tests leave out the packages that the Makefile tests elsewhere; they
// must name the same ones.
func TestTheLongTestsLeaveOutTheSamePackages(t *testing.T) {
	root := strings.TrimSpace(goList(t, "-m", "-f", "{{.Dir}}"))
	for _, file := range []string{"internal/testkit/nightly/parts.go", "internal/testkit/stress/main.go"} {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range append(variable(t, root, "READERS"), variable(t, root, "CLIENTS")...) {
			if !strings.Contains(string(text), `"`+name+`"`) {
				t.Errorf("%s does not leave out %s", file, name)
			}
		}
	}
}
