package packages_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"debug/elf"
	"debug/macho"
	"errors"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/testkit/need"
)

// A platform has the words that Go, npm and the package managers use for it.
type platform struct{ os, arch, npm, deb, rpm string }

var platforms = []platform{
	{"linux", "amd64", "x64", "amd64", "x86_64"},
	{"linux", "arm64", "arm64", "arm64", "aarch64"},
	{"darwin", "amd64", "x64", "", ""},
	{"darwin", "arm64", "arm64", "", ""},
}

// A release has a file of each kind for each platform, with the program of that platform.
func TestTheFilesOfEachPlatform(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	want := []string{"checksums.txt", "claude-swarm-" + version + ".tgz", "release-notes.md"}
	for _, p := range platforms {
		if !full && (p.os != runtime.GOOS || p.arch != runtime.GOARCH) {
			continue
		}
		stem := "claude-swarm_" + version + "_" + p.os + "_" + p.arch
		npm := "claude-swarm-" + p.os + "-" + p.npm + "-" + version + ".tgz"
		want = append(want, stem+".tar.gz", npm)
		packed := programIn(t, stem+".tar.gz", stem+"/bin/claude-swarm")
		if got := builtFor(t, packed); got != p.os+"/"+p.arch {
			t.Errorf("%s has a program for %s", stem, got)
		}
		if !bytes.Equal(packed, programIn(t, npm, "package/bin/claude-swarm")) {
			t.Errorf("%s has another program than %s", npm, stem)
		}
		if p.os != "linux" {
			continue
		}
		want = append(want, stem+".deb", stem+".rpm")
		need.Programs(t, "dpkg-deb", "rpm")
		if got := strings.TrimSpace(m.run("dpkg-deb", "--field", filepath.Join(made, stem+".deb"), "Architecture")); got != p.deb {
			t.Errorf("%s.deb is for %s, want %s", stem, got, p.deb)
		}
		if got := m.run("rpm", "-qp", "--qf", "%{os} %{arch}", filepath.Join(made, stem+".rpm")); got != "linux "+p.rpm {
			t.Errorf("%s.rpm is for %s, want linux %s", stem, got, p.rpm)
		}
	}
	slices.Sort(want)
	got := listing(t, made)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the files are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// programIn returns the bytes of a file in a package.
func programIn(t *testing.T, name, path string) []byte {
	t.Helper()
	zip, err := gzip.NewReader(bytes.NewReader(read(t, filepath.Join(made, name))))
	if err != nil {
		t.Fatal(err)
	}
	for files := tar.NewReader(zip); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			t.Fatalf("%s does not contain %s", name, path)
		} else if err != nil {
			t.Fatal(err)
		}
		if h.Name == path {
			data, err := io.ReadAll(files)
			if err != nil {
				t.Fatal(err)
			}
			return data
		}
	}
}

// builtFor returns the platform of a program, from its header.
func builtFor(t *testing.T, program []byte) string {
	t.Helper()
	if f, err := elf.NewFile(bytes.NewReader(program)); err == nil {
		return "linux/" + map[elf.Machine]string{elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64"}[f.Machine]
	}
	f, err := macho.NewFile(bytes.NewReader(program))
	if err != nil {
		t.Fatalf("the program is neither for Linux nor for macOS: %v", err)
	}
	return "darwin/" + map[macho.Cpu]string{macho.CpuAmd64: "amd64", macho.CpuArm64: "arm64"}[f.Cpu]
}
