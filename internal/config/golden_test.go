package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/internal/config"
)

// Each file in testdata/bad contains one wrong configuration and the exact output that a
// person sees for it. UPDATE=1 rewrites the output.
func TestWhatBadInputGets(t *testing.T) {
	cases, err := filepath.Glob("testdata/bad/*.txtar")
	if err != nil || len(cases) == 0 {
		t.Fatalf("no cases in testdata/bad (%v)", err)
	}
	for _, path := range cases {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			about, rest, _ := strings.Cut(string(data), "-- claude-swarm.yaml --\n")
			in, want, found := strings.Cut(rest, "-- want --\n")
			if !found {
				t.Fatal("want a line `-- claude-swarm.yaml --` and a line `-- want --`")
			}
			_, err = config.Parse(config.Name, []byte(in))
			errs, ok := errors.AsType[config.Errors](err)
			if !ok {
				t.Fatalf("Parse: %v, want config.Errors", err)
			}
			var got strings.Builder
			for _, e := range errs {
				got.WriteString(e.Error() + "\n")
				if e.Try != "" {
					got.WriteString("  try: " + e.Try + "\n")
				}
			}
			if os.Getenv("UPDATE") != "" {
				text := about + "-- claude-swarm.yaml --\n" + in + "-- want --\n" + got.String()
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(want, got.String()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
