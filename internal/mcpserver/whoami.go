package mcpserver

import (
	"context"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/internal/view"
)

// A self is the result of whoami.
type self struct {
	Name    string   `json:"name"`
	Role    string   `json:"role,omitempty"`
	Zone    string   `json:"zone,omitempty"`
	Tags    []string `json:"tags,omitempty"`
	Lead    string   `json:"lead" jsonschema:"who leads: an agent, or the person"`
	Project string   `json:"project" jsonschema:"the folder of the project"`
	Folder  string   `json:"folder,omitempty" jsonschema:"your working folder"`
	Folders []string `json:"folders" jsonschema:"the folders that set_directory may change to; their subfolders are allowed too"`
	Client  string   `json:"client,omitempty" jsonschema:"the kind of the client that runs you, and its version"`
	Model   string   `json:"model,omitempty"`
	Work    string   `json:"work,omitempty" jsonschema:"the folder for your notes and drafts"`
	Turn    string   `json:"turn,omitempty" jsonschema:"the turn that you are in"`
	Message *gist    `json:"message,omitempty" jsonschema:"the message that the turn works on"`
	Waiting int      `json:"waiting" jsonschema:"messages waiting for your next turns"`
	Daemon  bool     `json:"daemon" jsonschema:"whether it is running"`
	Note    string   `json:"note,omitempty"`
}

func (c crew) whoami(ctx context.Context, _ noArguments) (*self, error) {
	s := &self{Name: c.Me.Name, Lead: "the person", Project: c.Project, Folders: c.Folders, Turn: c.Me.Turn}
	switch {
	case c.Lead != "":
		s.Lead = c.Lead
	case c.LeadName != "":
		s.Lead = c.LeadName + ", a person,"
	}
	if spec, ok := c.spec(c.Me.Name); ok {
		s.Role, s.Zone, s.Tags, s.Folder = spec.Role, spec.Zone, spec.Tags, spec.Client.Dir
		s.Work = WorkFolder(c.Store.Dir(), c.Me.Name)
		st, err := c.status(ctx, s.Name)
		if err != nil {
			return nil, err
		}
		for _, a := range st.Agents {
			if a.Name == s.Name {
				s.Client, s.Model = a.Client, a.Model
			}
		}
	}
	work, err := c.Work()
	if err != nil {
		return nil, err
	}
	if work != nil {
		g := gistOf(c.Client, view.MessageIn(c.Client, c.Me.Name, dropbox.Claimed, work))
		s.Message = &g
	}
	box, err := c.Own()
	if err != nil {
		return nil, err
	}
	waiting, err := box.Peek()
	if err != nil {
		return nil, err
	}
	s.Waiting = len(waiting)
	s.Note, err = c.daemon.hindrance(ctx)
	s.Daemon = s.Note != noDaemon
	return s, err
}

func (s *self) readable() string {
	var t text
	t.line("You are %s", s.Name)
	if s.Role != "" && s.Role != s.Name {
		t.add(", %s", s.Role)
	}
	if s.Zone != "" {
		t.add(", for %s", s.Zone)
	}
	if len(s.Tags) > 0 {
		t.add(", with the tags %s", tagsText(s.Tags))
	}
	if about := clientText(s.Client, s.Model); about != "" {
		t.add(", on %s", about)
	}
	t.add(". %s leads.", strings.Replace(s.Lead, "the person", "The person", 1))
	t.line("The project is %s.", s.Project)
	if s.Folder != "" {
		t.line("You work in %s; your own notes belong in %s.", s.Folder, s.Work)
	}
	if m := s.Message; m != nil {
		t.line("This turn is for the %s %s from %s: %s", m.Type, m.ID, m.From, m.About)
	}
	t.line("%s for your next turns.", screen.Several(s.Waiting, "message is waiting", "messages are waiting"))
	t.remark(s.Note)
	return t.String()
}
