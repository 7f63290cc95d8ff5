package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/claude-swarm/claude-swarm/internal/config"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	fenced  = regexp.MustCompile("(?ms)^ *```([a-z]*)\n(.*?)^ *```$")
	inline  = regexp.MustCompile("`([^`\n]+)`")
)

// anchors returns the link anchors of a page's headings, as GitHub generates them.
func anchors(text string) []string {
	var all []string
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		var b strings.Builder
		for _, r := range strings.ToLower(m[1]) {
			switch {
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				b.WriteRune(r)
			case r == ' ':
				b.WriteByte('-')
			}
		}
		all = append(all, b.String())
	}
	return all
}

func TestLinksLeadSomewhere(t *testing.T) {
	for _, page := range pages(t) {
		text := read(t, page)
		for _, m := range link.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			to := page
			if target != "" {
				to = filepath.Join(filepath.Dir(page), target)
			}
			info, err := os.Stat(to)
			if err != nil {
				t.Errorf("%s links to %s, which is not there", page, m[1])
				continue
			}
			if anchor != "" && (info.IsDir() || !slices.Contains(anchors(read(t, to)), anchor)) {
				t.Errorf("%s links to %s, and there is no such heading", page, m[1])
			}
		}
	}
}

// The README must link to every page in this folder and in dev.
func TestReadmeLinksToEveryPage(t *testing.T) {
	readme := read(t, "../README.md")
	for _, name := range pages(t) {
		if !strings.HasPrefix(name, "../") && !strings.Contains(readme, "(docs/"+name+")") {
			t.Errorf("README.md does not link to docs/%s", name)
		}
	}
}

// code returns the lines of the code blocks on a page, and its inline code.
func code(text string) []string {
	var lines []string
	for _, m := range fenced.FindAllStringSubmatch(text, -1) {
		for line := range strings.Lines(m[2]) {
			lines = append(lines, strings.TrimRight(line, "\n"))
		}
	}
	for _, m := range inline.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		lines = append(lines, m[1])
	}
	return lines
}

var (
	call   = regexp.MustCompile(`(?:^|[ (])claude-swarm ([^|;&#<>()]*)`)
	quoted = regexp.MustCompile(`"[^"]*"|'[^']*'`)
	option = regexp.MustCompile(`(?:^| )\[?(--?[a-z][a-z-]*)`)
	word   = regexp.MustCompile(`^[a-z]+$`)
)

// Every command on a page must exist: the verb, and each flag.
func TestVerbsAndFlagsExist(t *testing.T) {
	top := verbs(t)
	hidden := []string{"hook", "help", "sned"} // the last one is a deliberate typo on a page
	used := map[string]bool{}
	const skill = "../internal/provision/skill.md" // the file that init --skill writes
	for _, page := range append(pages(t), skill) {
		if page == "command-line.md" {
			continue // the page is generated from the program
		}
		for _, line := range code(read(t, page)) {
			for _, m := range call.FindAllStringSubmatch(line, -1) {
				args := quoted.ReplaceAllString(m[1], "TEXT")
				words := strings.Fields(args)
				if len(words) > 1 && words[0] == "--config" {
					words = words[2:]
				}
				if len(words) == 0 || !word.MatchString(words[0]) || slices.Contains(hidden, words[0]) {
					continue
				}
				v, err := top.find(words)
				if err != nil {
					t.Errorf("%s: %q: there is no verb %q", page, line, words[0])
					continue
				}
				used[v.words[0]] = true
				for _, f := range option.FindAllStringSubmatch(args, -1) {
					if !slices.Contains(v.flags, f[1]) && f[1] != "--config" && f[1] != "--help" {
						t.Errorf("%s: %q: %s has no flag %s", page, line, v.name(), f[1])
					}
				}
			}
		}
	}
	for _, v := range top.subs {
		if !used[v.words[0]] {
			t.Errorf("no page but the reference speaks of %s", v.name())
		}
	}
}

var keyed = regexp.MustCompile(`^([a-z_]+):( .*)?$`)

// envelope contains the keys of a message file and of a receipt, which look like
// configuration keys.
var envelope = []string{
	"v", "id", "from", "to", "cc", "type", "priority", "subject", "thread", "reply_to", "trace", "key", "turn", "topic", "offer", "hops", "path",
	"created", "expires", "attachments", "proof", "via", "proven", "outcome", "denied", "answer", "text",
	"try", "duplicate", // fields of the program's output
}

// Every configuration key that a page names must exist.
func TestKeysExist(t *testing.T) {
	known := append(slices.Clone(envelope), "defaults", "agents", "policy", "irc", "supervisor", "log", "audit", "retention", "matcher", "swarm", "coder", "reviewer", "private")
	for _, k := range config.Keys() {
		known = append(known, k.Path[strings.LastIndexByte(k.Path, '.')+1:])
	}
	for _, page := range pages(t) {
		for _, m := range inline.FindAllStringSubmatch(fenced.ReplaceAllString(read(t, page), ""), -1) {
			k := keyed.FindStringSubmatch(m[1])
			if k != nil && !slices.Contains(known, k[1]) {
				t.Errorf("%s speaks of %q, and there is no key %s", page, m[1], k[1])
			}
		}
	}
}

// Every configuration that a page shows must load without errors.
func TestYAMLBlocksLoad(t *testing.T) {
	checked := 0
	for _, page := range pages(t) {
		for _, m := range fenced.FindAllStringSubmatch(read(t, page), -1) {
			if m[1] != "yaml" || !strings.Contains(m[2], "agents:") {
				continue
			}
			checked++
			if _, err := config.Parse(filepath.Join(t.TempDir(), config.Name), []byte(m[2])); err != nil {
				t.Errorf("%s shows a configuration that does not load: %v", page, err)
			}
		}
	}
	if checked == 0 {
		t.Error("no page shows a configuration")
	}
}

// The pages must not use marketing words or other unwanted words.
func TestWords(t *testing.T) {
	bad := regexp.MustCompile(`(?i)\b(DLQ|blazing|seamless(ly)?|effortless(ly)?|simply|leverage|robust|powerful|whitelist|blacklist)\b`)
	for _, page := range pages(t) {
		for i, line := range strings.Split(read(t, page), "\n") {
			if m := bad.FindString(line); m != "" {
				t.Errorf("%s:%d says %q", page, i+1, m)
			}
		}
	}
}
