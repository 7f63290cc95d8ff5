package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/discovery"
	"github.com/claude-swarm/claude-swarm/internal/durable"
)

// A project that was moved or renamed keeps its slug, and so its channels on IRC. A copy beside
// the original gets the name of the copy's folder. A slug in the file always counts.
func TestAMovedProjectKeepsItsSlug(t *testing.T) {
	top := t.TempDir()
	slug := func(folder string) string {
		t.Helper()
		f, err := config.Load(filepath.Join(top, folder, config.Name))
		if err != nil {
			t.Fatal(err)
		}
		if err := f.KeepSlug(durable.Files{}); err != nil {
			t.Fatal(err)
		}
		return f.IRC.Slug
	}
	write := func(folder, irc string) {
		t.Helper()
		home := filepath.Join(top, folder, discovery.HomeName)
		text := "irc: {server: localhost" + irc + "}\nagents: {coder: }\n"
		if err := errors.Join(os.MkdirAll(home, 0o700), os.WriteFile(filepath.Join(top, folder, config.Name), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	write("Shop", "")
	if got := slug("Shop"); got != "shop" {
		t.Fatalf("slug = %q, want shop", got)
	}
	if err := os.Rename(filepath.Join(top, "Shop"), filepath.Join(top, "shop2")); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time with the record of the new place
		if got := slug("shop2"); got != "shop" {
			t.Errorf("after a move: slug = %q, want shop", got)
		}
	}
	if err := os.CopyFS(filepath.Join(top, "copy"), os.DirFS(filepath.Join(top, "shop2"))); err != nil {
		t.Fatal(err)
	}
	if got := slug("copy"); got != "copy" {
		t.Errorf("in a copy: slug = %q, want copy", got)
	}
	write("shop2", ", slug: market")
	if got := slug("shop2"); got != "market" {
		t.Errorf("with a slug in the file: slug = %q, want market", got)
	}
	write("shop2", "")
	if err := os.WriteFile(filepath.Join(top, "shop2", discovery.HomeName, "slug.json"), []byte(`{"slug":"Not A Slug"`), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := slug("shop2"); got != "shop2" {
		t.Errorf("with a damaged record: slug = %q, want shop2", got)
	}
}
