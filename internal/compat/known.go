package compat

import (
	"embed"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/claude-swarm/claude-swarm/swarm/runner/claude"
)

// recorded contains one file for each version whose answers and shapes a person has
// accepted. A file has a section for each fact.
//
//go:embed testdata/*.txt
var recorded embed.FS

// A Recording is what one version answered when it was recorded.
type Recording struct {
	Facts  map[string]Recorded // by the name of the fact
	Census Census
}

// Recorded is the answer of one fact and its shape.
type Recorded struct{ Text, Shape string }

// Recordings returns the recordings by version. The caller must not modify them.
func Recordings() map[string]Recording { return recordings() }

var recordings = sync.OnceValue(func() map[string]Recording {
	files, err := recorded.ReadDir("testdata")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	all := map[string]Recording{}
	for _, f := range files {
		data, err := recorded.ReadFile(path.Join("testdata", f.Name()))
		if err != nil {
			panic(err)
		}
		all[strings.TrimSuffix(f.Name(), ".txt")] = parseRecording(string(data))
	}
	return all
})

const (
	sectionHead = "## "
	answerHead  = "answer: "
	censusHead  = "census: "
)

// parseRecording undoes [Recording.Format].
func parseRecording(text string) Recording {
	r := Recording{Facts: map[string]Recorded{}, Census: Census{}}
	for section := range strings.SplitSeq("\n"+text, "\n"+sectionHead) {
		name, rest, _ := strings.Cut(section, "\n")
		rest = strings.Trim(rest, "\n")
		if list, ok := strings.CutPrefix(name, censusHead); ok {
			r.Census[list] = strings.Split(rest, "\n")
		} else if told, ok := strings.CutPrefix(rest, answerHead); ok {
			answer, shape, _ := strings.Cut(told, "\n")
			r.Facts[name] = Recorded{answer, shape}
		}
	}
	return r
}

// Format returns the text of the file that records r, with the facts in their order.
func (r Recording) Format(version string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Claude Code %s: the answer and the shape of each fact, and the census. `make compat UPDATE=1`\nrewrites this file.\n", version)
	for _, f := range facts {
		if got, ok := r.Facts[f.name]; ok {
			fmt.Fprintf(&b, "\n%s%s\n%s%s\n", sectionHead, f.name, answerHead, got.Text)
			if got.Shape != "" {
				b.WriteString(got.Shape + "\n")
			}
		}
	}
	for _, list := range slices.Sorted(maps.Keys(r.Census)) {
		fmt.Fprintf(&b, "\n%s%s%s\n%s\n", sectionHead, censusHead, list, strings.Join(r.Census[list], "\n"))
	}
	return b.String()
}

// known reports whether any version was recorded with this shape of the fact.
func known(fact, shape string) bool {
	for _, r := range recordings() {
		if got, ok := r.Facts[fact]; ok && got.Shape == shape {
			return true
		}
	}
	return false
}

// nearest returns the shape of the fact in the newest recording that has it.
func nearest(fact string) string {
	versions := slices.Collect(func(yield func(string) bool) {
		for v, r := range recordings() {
			if _, ok := r.Facts[fact]; ok && !yield(v) {
				return
			}
		}
	})
	if len(versions) == 0 {
		return ""
	}
	return recordings()[slices.MaxFunc(versions, claude.CompareVersions)].Facts[fact].Shape
}
