package swarm

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// accountOf names the account of a client by its environment: the inherited one, without
// the variables that the agent's settings drop and with those that they add. It is a hash,
// since the keys themselves must not get into files or logs.
func accountOf(login runner.Login, environ []string, spec Spec) string {
	decisive := slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return !slices.Contains(login.Vars, name)
	})
	env := map[string]string{}
	for _, kv := range runner.Environ(decisive, runner.EnvOptions{Drop: spec.EnvDrop, Add: spec.Env}) {
		name, value, _ := strings.Cut(kv, "=")
		env[name] = value
	}
	if env[login.Folder] != "" {
		delete(env, "HOME")
	}
	h := sha256.New()
	for _, name := range login.Vars {
		h.Write([]byte(name + "=" + env[name] + "\x00"))
	}
	return hex.EncodeToString(h.Sum(nil)[:6])
}
