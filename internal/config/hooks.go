package config

import (
	"fmt"
	"slices"

	"github.com/claude-swarm/claude-swarm/internal/webhook"
)

// webhooks checks that no two webhooks have the same name.
func (r *reader) webhooks(f *File) {
	for i, w := range f.Webhooks {
		if j := slices.IndexFunc(f.Webhooks[:i], func(o Webhook) bool { return o.Name == w.Name }); j >= 0 && w.Name != "" {
			first := r.find(fmt.Sprintf("webhooks[%d]", j)).value
			r.fail(fmt.Sprintf("webhooks[%d].name", i), "another name", "%q is already the name of the webhook at line %d", w.Name, first.Line)
		}
	}
}

// HookSecrets returns the names of the environment variables that contain the webhooks'
// secrets.
func (f *File) HookSecrets() (names []string) {
	for _, w := range f.Webhooks {
		names = append(names, w.URLEnv, w.SecretEnv)
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}

// Hooks returns the webhooks with their addresses and secrets, which it reads from the
// environment and from files. The error is [Errors]; even then, Hooks returns the
// webhooks that have no problem.
func (f *File) Hooks(getenv func(string) string) ([]webhook.Hook, error) {
	r := *f.from
	r.errs = nil
	var hooks []webhook.Hook
	for i, w := range f.Webhooks {
		if h, ok := w.hook(&r, fmt.Sprintf("webhooks[%d]", i), getenv); ok {
			hooks = append(hooks, h)
		}
	}
	return hooks, r.failed()
}
