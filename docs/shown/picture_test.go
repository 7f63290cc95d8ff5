package shown_test

import (
	"encoding/xml"
	"slices"
	"strings"
	"testing"
)

// The picture of the demo shows lines of the page about the demo, which another test
// compares with the program.
func TestThePictureShowsTheDemo(t *testing.T) {
	var svg struct {
		Rows []struct {
			Spans []string `xml:"tspan"`
		} `xml:"text"`
	}
	if err := xml.Unmarshal([]byte(read(t, "../demo.svg")), &svg); err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, r := range svg.Rows {
		rows = append(rows, strings.Join(r.Spans, ""))
	}
	page := shapes(shownBlock(t, "../demo.md", "  project "))
	for _, row := range shapes(rows) {
		if !slices.Contains(page, row) {
			t.Errorf("the picture shows %q, which demo.md does not\n  try: make picture", row)
		}
	}
	first, last := "$ claude-swarm send coder --file task.md --wait", "The answer, in the lead's mailbox:"
	for _, line := range []string{first, last} {
		if !slices.Contains(shapes(rows), shapes([]string{line})[0]) {
			t.Errorf("the picture does not show %q", line)
		}
	}
	if !strings.Contains(read(t, "../../README.md"), "](docs/demo.svg)") {
		t.Error("README.md does not show the picture")
	}
}
