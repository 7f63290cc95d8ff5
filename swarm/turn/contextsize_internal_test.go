package turn

import "testing"

// Only a drop of at least 20,000 tokens to below half of the largest size counts as a
// compaction.
func TestAFallOfTheContextIsACompaction(t *testing.T) {
	for name, c := range map[string]struct {
		sizes  []int
		before []int // 0 means no compaction
	}{
		"it grows":                         {[]int{12_000, 80_000, 150_000}, []int{0, 0, 0}},
		"it falls below half":              {[]int{150_000, 74_999, 80_000}, []int{0, 150_000, 0}},
		"it falls to half":                 {[]int{150_000, 75_000}, []int{0, 0}},
		"it falls in two steps":            {[]int{150_000, 100_000, 70_000}, []int{0, 0, 150_000}},
		"it falls twice":                   {[]int{150_000, 40_000, 90_000, 30_000}, []int{0, 150_000, 0, 90_000}},
		"it falls, and less again":         {[]int{150_000, 40_000, 25_000}, []int{0, 150_000, 0}},
		"it is small":                      {[]int{25_000, 5_001}, []int{0, 0}},
		"it is just large enough":          {[]int{25_000, 5_000}, []int{0, 25_000}},
		"the client reports 0 for nothing": {[]int{150_000, 0, 140_000}, []int{0, 0, 0}},
	} {
		var size contextSize
		for i, tokens := range c.sizes {
			before, fell := size.see(tokens)
			if fell != (c.before[i] > 0) || fell && before != c.before[i] {
				t.Errorf("%s: step %d: %d, %v; want %d", name, i+1, before, fell, c.before[i])
			}
		}
	}
}

// Each session has its own size. A new session begins with size 0, and a session from an
// earlier daemon continues with the last size that the earlier daemon recorded.
func TestTheSizeOfTheContextIsOfASession(t *testing.T) {
	for name, c := range map[string]struct {
		session string
		resumed bool
		last    int
		fell    bool
	}{
		"the same":                     {"a", true, 60_000, true},
		"another, and new":             {"b", false, 150_000, false},
		"another of an earlier daemon": {"b", true, 150_000, true},
		"another, that was small":      {"b", true, 60_000, false},
		"the same name, and new":       {"a", false, 150_000, false},
	} {
		var size contextSize
		size.begin("a", false, 0)
		size.see(150_000)
		size.begin(c.session, c.resumed, c.last)
		if _, fell := size.see(40_000); fell != c.fell {
			t.Errorf("%s: a compaction: %v, want %v", name, fell, c.fell)
		}
	}
}
