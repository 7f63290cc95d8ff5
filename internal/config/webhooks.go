package config

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/claude-swarm/claude-swarm/internal/webhook"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// A Webhook posts events to another program. Its URL and its secret may be stored outside
// the file; see [File.Hooks].
type Webhook struct {
	Name       string   `key:"name" is:"word,hook"`
	URL        string   `key:"url" is:"word"`
	URLEnv     string   `key:"url_env" is:"word,variable"`
	Kind       string   `key:"kind" type:"generic | slack | discord | ntfy"`
	SecretEnv  string   `key:"secret_env" is:"word,variable"`
	SecretFile string   `key:"secret_file" is:"path"`
	Events     []string `key:"events" is:"once" of:"agent_spiraling | agent_error | agent_question | agent_timeout | agent_complete | limit | budget | context | dead_letter | unpaused | task_created | task_completed"`
	Private    bool     `key:"private"`
}

// secretCommand is a shell expression that generates a secret for a generic webhook.
const secretCommand = `"whsec_$(head -c 32 /dev/urandom | base64)"`

func (w *Webhook) check(r *reader, path string, ok bool) {
	if !ok {
		return
	}
	if w.Kind == "" {
		w.Kind = string(webhook.Generic)
	}
	if _, written := r.at[path+".events"]; !written {
		for _, word := range journal.Words() {
			w.Events = append(w.Events, string(word))
		}
	}
	switch {
	case w.Name == "":
		r.fail(path, "name: ops", "the name is missing")
	case w.URL == "" && w.URLEnv == "":
		r.fail(path, "url: https://example.com/hooks, or url_env: NAME", "the address is missing")
	case w.URL != "" && w.URLEnv != "":
		r.fail(path, "", "set either url or url_env, not both")
	case w.SecretEnv != "" && w.SecretFile != "":
		r.fail(path, "", "set either secret_env or secret_file, not both")
	case w.SecretEnv+w.SecretFile != "" && (w.Kind == string(webhook.Slack) || w.Kind == string(webhook.Discord)):
		r.fail(path, "url_env: NAME", "a %s webhook has no secret: its URL is the secret", w.Kind)
	case len(w.Events) == 0:
		r.fail(path+".events", "leave it out for all events", "no event would be posted")
	case w.URL != "":
		r.report(r.find(path+".url").value, path+".url", badHookURL(w.URL, w.Private))
	}
}

// badPort reports whether a URL has a port that is out of range.
func badPort(u *url.URL) bool {
	n, err := strconv.Atoi(u.Port())
	return u.Port() != "" && (err != nil || n < 1 || n > 65535)
}

// badHookURL returns what is wrong with the address of a webhook. The result does not
// contain the whole address, because the address may be a secret.
func badHookURL(text string, private bool) *Error {
	const example = "url: https://example.com/hooks"
	u, err := url.Parse(text)
	switch {
	case err != nil || strings.ContainsFunc(text, func(c rune) bool { return c <= ' ' || c == 0x7f }):
		return wrong(example, "it is not a URL")
	case u.Scheme != "https" && u.Scheme != "http":
		return wrong(example, "want a URL that begins with https://")
	case u.User != nil:
		return wrong("remove it; for ntfy: secret_env: NAME, a variable with the access token", "the URL must not contain a user or a password")
	case u.Hostname() == "":
		return wrong(example, "it names no server")
	case badPort(u):
		return wrong(example, "%q is not a port: a port is a number from 1 to 65535", u.Port())
	case u.Fragment != "":
		return wrong("take out #"+oneLine(u.Fragment, 20), "the URL must not have a fragment")
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	addr, err := netip.ParseAddr(host)
	literal, here := err == nil, host == "localhost" || strings.HasSuffix(host, ".localhost")
	switch {
	case private && u.Scheme == "http" && literal && webhook.IsPublic(addr):
		return wrong("url: https://"+u.Host+"/…", "%s is a public address: http would send the events unencrypted", u.Host)
	case private:
		return nil
	case literal && !webhook.IsPublic(addr), here:
		return wrong("private: true, if you mean it", "%s is an address of this machine or of a private network", u.Host)
	case u.Scheme == "http":
		return wrong("url: https://"+u.Host+"/…, or private: true for a server in your network", "http would send the events unencrypted")
	}
	return nil
}

// hook reads the address and the secret. It returns false if it has reported a problem
// with them.
func (w Webhook) hook(r *reader, path string, getenv func(string) string) (webhook.Hook, bool) {
	h := webhook.Hook{Name: w.Name, URL: w.URL, Kind: webhook.Kind(w.Kind), Private: w.Private}
	for _, word := range w.Events {
		h.Events = append(h.Events, journal.Word(word))
	}
	fail := func(key string, e *Error) bool {
		if e != nil {
			e.Problem = "webhook " + w.Name + ": " + e.Problem
		}
		return r.report(r.find(path+"."+key).value, path+"."+key, e)
	}
	generic := h.Kind == webhook.Generic
	if w.URLEnv != "" {
		if h.URL = getenv(w.URLEnv); h.URL == "" {
			return h, fail("url_env", wrong("export "+w.URLEnv+"=https://…, then start again", "the variable %s is not set", w.URLEnv))
		}
		if !fail("url_env", badHookURL(h.URL, w.Private)) {
			return h, false
		}
	}
	key := "secret_env"
	switch {
	case w.SecretEnv != "":
		if h.Secret = getenv(w.SecretEnv); h.Secret == "" {
			value := secretCommand
			if !generic {
				value = "…"
			}
			return h, fail(key, wrong("export "+w.SecretEnv+"="+value+", then start again", "the variable %s is not set", w.SecretEnv))
		}
	case w.SecretFile != "":
		key = "secret_file"
		var e *Error
		if h.Secret, e = secretIn(w.SecretFile, generic); !fail(key, e) {
			return h, false
		}
	}
	if generic && h.Secret != "" && webhook.CheckSecret(h.Secret) != nil {
		return h, fail(key, wrong("make one: echo "+secretCommand, "the secret is not whsec_ followed by 24 to 64 bytes in base64"))
	}
	if strings.ContainsAny(h.Secret, " \t\r\n") {
		return h, fail(key, wrong("", "the secret contains a space"))
	}
	return h, true
}

// secretIn reads a secret from the first line of a file, which other users must not be
// able to read.
func secretIn(path string, generic bool) (string, *Error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // otherwise, opening a named pipe would wait for a writer
	if errors.Is(err, fs.ErrNotExist) {
		try := "umask 077; printf '%s\\n' SECRET > " + path
		if generic {
			try = "umask 077; echo " + secretCommand + " > " + path
		}
		return "", wrong(try, "%s does not exist", path)
	} else if err != nil {
		return "", wrong("", "%v", err)
	}
	defer file.Close()
	switch info, err := file.Stat(); {
	case err != nil:
		return "", wrong("", "%v", err)
	case !info.Mode().IsRegular():
		return "", wrong("", "%s is not a regular file", path)
	case info.Mode().Perm()&0o077 != 0:
		return "", wrong("chmod 600 "+path, "others can read %s", path)
	}
	line, err := bufio.NewReader(io.LimitReader(file, 1<<10)).ReadString('\n')
	if line = strings.TrimSpace(line); line == "" {
		if err == nil || errors.Is(err, io.EOF) {
			err = errors.New("the first line is empty")
		}
		return "", wrong("write it on the first line", "%s contains no secret: %v", path, err)
	}
	return line, nil
}
