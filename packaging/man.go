package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A verbTree is what the program's hidden verb __verbs prints: its help.
type verbTree struct {
	V         int
	Usage     string
	Arguments string
	About     string
	Endings   string
	Status    string // the exit statuses
	Flags     []flagHelp
	Everyday  []string // the names of the verbs for everyday work
	Groups    []verbGroup
}

type verbGroup struct {
	Name  string
	Verbs []verbHelp
}

type verbHelp struct {
	Name        string
	Usage       string
	Arguments   string
	Description string
	Flags       []flagHelp
	Verbs       []verbHelp
}

type flagHelp struct {
	Names []string
	Value string
	Usage string
}

// parseVerbs reads the output of the verb __verbs.
func parseVerbs(text string) (verbTree, error) {
	var t verbTree
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&t); err != nil {
		return t, fmt.Errorf("the verb tree: %w", err)
	}
	if t.V != 1 || len(t.Groups) == 0 {
		return t, fmt.Errorf("the verb tree has version %d and %d groups", t.V, len(t.Groups))
	}
	return t, nil
}

// page returns the name of the manual page of a group: claude-swarm-daemon for "the daemon".
func (g verbGroup) page() string {
	words := strings.Fields(g.Name)
	return "claude-swarm-" + words[len(words)-1]
}

// manPages returns the manual pages: one of the program, and one for each group of verbs.
func (t verbTree) manPages(version string, day time.Time) []file {
	page := func(name string, write func(*roff)) file {
		var p roff
		p.macro("TH", strings.ToUpper(name), "1", day.Format(time.DateOnly), version, "claude-swarm")
		write(&p)
		return file{"share/man/man1/" + name + ".1", 0o644, []byte(p.String())}
	}
	all := []file{page("claude-swarm", t.writeMain)}
	for _, g := range t.Groups {
		all = append(all, page(g.page(), func(p *roff) { t.writeGroup(p, g) }))
	}
	return all
}

func (t verbTree) writeMain(p *roff) {
	p.macro("SH", "NAME")
	p.line("claude-swarm - " + t.Usage)
	p.macro("SH", "SYNOPSIS")
	p.command("claude-swarm", t.Arguments)
	p.macro("SH", "DESCRIPTION")
	p.text(t.About)
	list := func(verbs []verbHelp) {
		p.macro("PD", "0") // no empty line between two entries
		for _, v := range verbs {
			p.item(v.Name, "", v.Usage)
		}
		p.macro("PD")
	}
	var everyday []verbHelp
	for _, name := range t.Everyday {
		for _, g := range t.Groups {
			if at := slices.IndexFunc(g.Verbs, func(v verbHelp) bool { return v.Name == name }); at >= 0 {
				everyday = append(everyday, g.Verbs[at])
			}
		}
	}
	p.macro("SH", "EVERYDAY VERBS")
	list(everyday)
	p.macro("SH", "ALL VERBS")
	for _, g := range t.Groups {
		p.macro("SS", strings.ToUpper(g.Name[:1])+g.Name[1:]+": "+g.page()+"(1)")
		list(g.Verbs)
	}
	p.macro("SH", "OPTIONS")
	p.flags(t.Flags)
	p.macro("SH", "ENDING THINGS")
	p.text(strings.TrimPrefix(t.Endings, "Ending things: "))
	p.macro("SH", "EXIT STATUS")
	p.text(strings.TrimPrefix(t.Status, "Exit status: "))
	p.macro("SH", "FILES")
	p.item("claude-swarm.yaml", "", "the configuration of a project")
	p.item(".dead-drop/", "", "the mailboxes, one folder for each agent")
	p.item(".claude-swarm/", "", "the daemon's own folder, with its log")
	t.seeAlso(p, "claude-swarm")
}

func (t verbTree) writeGroup(p *roff, g verbGroup) {
	p.macro("SH", "NAME")
	p.line(g.page() + " - claude-swarm's verbs for " + g.Name)
	p.macro("SH", "SYNOPSIS")
	for i, v := range g.Verbs {
		if i > 0 {
			p.macro("br")
		}
		p.command("claude-swarm "+v.Name, v.Arguments)
	}
	p.macro("SH", "VERBS")
	for _, v := range g.Verbs {
		p.verb("", v)
	}
	t.seeAlso(p, g.page())
}

// seeAlso ends a page with the names of the others.
func (t verbTree) seeAlso(p *roff, self string) {
	var names []string
	if self != "claude-swarm" {
		names = append(names, "claude-swarm(1)")
	}
	for _, g := range t.Groups {
		if g.page() != self {
			names = append(names, g.page()+"(1)")
		}
	}
	p.macro("SH", "SEE ALSO")
	p.line(strings.Join(names, ", "))
}

// verb writes the help for a verb, and for those below it.
func (p *roff) verb(above string, v verbHelp) {
	name := above + v.Name
	p.macro("SS", strings.TrimSpace(name+" "+v.Arguments))
	p.text(v.Description)
	p.flags(v.Flags)
	for _, sub := range v.Verbs {
		p.verb(name+" ", sub)
	}
}

func (p *roff) flags(flags []flagHelp) {
	for _, f := range flags {
		if f.Usage != "" {
			p.item(strings.Join(f.Names, ", "), f.Value, f.Usage)
		}
	}
}
