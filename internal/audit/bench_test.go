package audit_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/audit"
)

// BenchmarkTurn measures how much time the audit adds to a turn if the branch already has
// a history of recorded turns. For comparison, the floor is the time it takes to make the
// same commit directly, with only the two git processes and without a search.
func BenchmarkTurn(b *testing.B) {
	for _, history := range []int{0, 5000} {
		p := newProject(b)
		for i := range history {
			p.turn("coder", i, p.now.AddDate(0, 0, -2-i%300), nil)
		}
		a := p.audit()
		p.record(a)
		seq := history // each turn is unique, even if the benchmark function is called again
		b.Run(fmt.Sprintf("floor/history=%d", history), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				seq++
				b.StopTimer()
				base := p.turn("floor", seq, p.now, nil)
				b.StartTimer()
				byHand(p, base)
			}
		})
		p.record(a) // the floor's commits were made outside the audit
		b.Run(fmt.Sprintf("ours/history=%d", history), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				seq++
				b.StopTimer()
				p.turn("coder", seq, p.now, nil)
				b.StartTimer()
				p.record(a)
			}
		})
	}
}

func byHand(p *project, base string) {
	p.Helper()
	tip := strings.TrimSpace(p.git("for-each-ref", "--format=%(objectname)", "refs/heads/"+audit.Branch))
	var in strings.Builder
	fmt.Fprintf(&in, "commit refs/heads/%s\ncommitter a <a@b.c> %d +0000\ndata 1\nx\nfrom %s\n", audit.Branch, p.now.Unix(), tip)
	for _, end := range []string{".md", ".receipt.yaml"} {
		data, err := os.ReadFile(filepath.Join(p.drop, base+end))
		if err != nil {
			p.Fatal(err)
		}
		fmt.Fprintf(&in, "M 100644 inline .dead-drop/%s\ndata %d\n%s\n", base+end, len(data), data)
	}
	in.WriteString("done\n")
	cmd := exec.Command("git", "-c", "core.fsync=committed", "-c", "core.hooksPath=/dev/null", "fast-import", "--quiet", "--done", "--date-format=raw")
	cmd.Dir, cmd.Env, cmd.Stdin = p.dir, p.environ(), strings.NewReader(in.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		p.Fatalf("git fast-import: %v\n%s", err, out)
	}
}

// BenchmarkBacklog measures the first Record in a project that has run without the audit.
func BenchmarkBacklog(b *testing.B) {
	const n = 2000
	p := newProject(b)
	for i := range n {
		p.turn("coder", i, p.now.Add(time.Duration(i-n)*time.Minute), nil)
	}
	for b.Loop() {
		b.StopTimer()
		if _, err := p.gitIn(p.dir, "update-ref", "-d", "refs/heads/"+audit.Branch); err != nil {
			b.Fatal(err)
		}
		a := p.audit()
		b.StartTimer()
		p.record(a)
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/n, "µs/turn")
}
