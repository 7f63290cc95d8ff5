package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/ircbridge"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
)

// ircOptions returns the options of a project's bridge. It reads the passwords from their
// sources.
func ircOptions(p *project, store *dropbox.Store, log *slog.Logger) (ircbridge.Options, error) {
	i := p.file.IRC
	password, err := secret("password", i.PasswordEnv, i.PasswordFile)
	if err != nil {
		return ircbridge.Options{}, err
	}
	serverPassword, err := secret("server_password", i.ServerPasswordEnv, i.ServerPasswordFile)
	if err != nil {
		return ircbridge.Options{}, err
	}
	keys, err := channelKeys(i)
	if err != nil {
		return ircbridge.Options{}, err
	}
	tokens, err := p.home.Tokens(ircbridge.Name)
	if err != nil {
		return ircbridge.Options{}, err
	}
	token, names := tokens[ircbridge.Name], newAgentNames(p.file)
	o := ircbridge.Options{
		Options: bridge.Options{
			Store: store, Home: p.home.Dir(),
			Channels: bridge.Channels{Project: i.Channel(i.Channels.Project), Standup: i.Channel(i.Channels.Standup), Alerts: i.Channel(i.Channels.Alerts), Errors: i.Channel(i.Channels.Errors),
				Own: i.Own, Work: i.Channel(i.Channels.Work)}, // set even without work_channels, so that the bridge leaves existing work channels
			Agents:     func() []string { return names.now().Names() },
			Tags:       func() map[string][]string { return names.now().Tags() },
			Called:     func(mailbox string) string { return calledBy(names.now(), mailbox) },
			Over:       func(question *dropbox.Message) string { return mail.WhyOver(p.home, question) },
			Sign:       func(m *dropbox.Message, to string) string { return dropbox.Proof(token, m, to) },
			BufferSize: i.BufferSize, WakesPerMinute: cmp.Or(i.WakesPerMinute, -1), Log: log,
		},
		Style: ircbridge.Style(i.Style), Join: channelNames(i, i.Join), Keys: keys,
		Server: ircbridge.Server{
			Addr: i.Server, Nick: i.Nick, RealName: "claude-swarm of " + i.Slug, Password: serverPassword,
			TLS: i.TLS, ServerName: i.TLSName, CAFile: i.CAFile, CertFile: i.CertFile, KeyFile: i.KeyFile,
			SASL: i.SASL, Account: i.Account, SASLPassword: password,
			Burst: i.Burst, Rate: float64(i.Rate), Unlimited: i.Rate == 0,
		},
	}
	if prefix := i.NickPrefix; prefix != "" {
		o.Nick = func(agent string) string { return prefix + agent }
	}
	for _, t := range tokens { // the bridge never posts tokens, even if an agent prints its environment
		o.Secrets = append(o.Secrets, t)
	}
	// A rule can show events in a channel that appears nowhere else in the configuration.
	for _, r := range i.Map {
		if r.Channel != "" {
			o.Join = append(o.Join, i.Channel(r.Channel))
		}
	}
	for _, a := range i.Allow {
		permit := bridge.Permit{Account: a.Account, Mask: a.Mask, Nick: a.Nick}
		for _, right := range a.May {
			permit.May = append(permit.May, bridge.Right(right))
		}
		o.Allow = append(o.Allow, permit)
	}
	return o, nil
}

func channelNames(i config.IRC, templates []string) []string {
	var names []string
	for _, t := range templates {
		names = append(names, i.Channel(t))
	}
	return names
}

// secret reads a password from its configured source, or returns "" if no source is
// configured.
func secret(key, variable, path string) (string, error) {
	switch {
	case variable != "":
		s := os.Getenv(variable)
		if s == "" {
			return "", fail(exitConfig, "export "+variable+"=…, then start", "irc.%s_env: %s is not set", key, variable)
		}
		return s, nil
	case path != "":
		f, err := os.Open(path)
		if err != nil {
			return "", hint(fmt.Errorf("irc.%s_file: %w", key, err), "%s", "umask 077; printf '%s\\n' PASSWORD > "+shellWord(path))
		}
		defer f.Close()
		line, err := bufio.NewReaderSize(f, 512).ReadString('\n')
		if s := strings.TrimRight(line, "\r\n"); s != "" && len(s) < 500 {
			return s, nil
		}
		return "", fail(exitConfig, "write it on the first line of "+shellWord(path), "irc.%s_file: %s contains no password (%v)", key, path, err)
	}
	return "", nil
}

// channelKeys reads the channel keys from the file named in the configuration.
func channelKeys(i config.IRC) (map[string]string, error) {
	path := i.ChannelKeysFile
	if path == "" {
		return nil, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, hint(fmt.Errorf("irc.channel_keys_file: %w", err), "%s", "umask 077; echo '#CHANNEL KEY' > "+shellWord(path))
	}
	keys := map[string]string{}
	number := 0
	for line := range strings.Lines(string(data)) {
		number++
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if len(words) != 2 || len(line) > 500 || !utf8.ValidString(line) { // the error does not quote the line, which may contain a key
			return nil, fail(exitConfig, "a line for each channel: #CHANNEL KEY", "irc.channel_keys_file: line %d of %s is not a channel and its key", number, path)
		}
		name := i.Channel(words[0])
		if !strings.ContainsRune("#&+!", rune(name[0])) {
			name = "#" + name
		}
		keys[name] = words[1]
	}
	return keys, nil
}

// agentNames provides the names of the agents and the lead to a bridge in a separate process.
// The daemon does not notify that process of reloads, so agentNames reads the names from the
// configuration file. It is safe for concurrent use.
type agentNames struct {
	mu     sync.Mutex
	looked time.Time
	file   *config.File
}

// namesFor is how long the names are used before the file is read again.
const namesFor = 2 * time.Second

func newAgentNames(f *config.File) *agentNames {
	return &agentNames{file: f, looked: time.Now()}
}

func (n *agentNames) now() *config.File {
	n.mu.Lock()
	defer n.mu.Unlock()
	if now := time.Now(); now.Sub(n.looked) > namesFor {
		n.looked = now
		if file, err := config.Load(n.file.Path); err == nil { // if the file is invalid, the old names stay in force, as in the daemon
			n.file = file
		}
	}
	return n.file
}

// An ircService runs a daemon's bridge and replaces it when the IRC configuration
// changes. Its errors are logged and do not affect agents.
type ircService struct {
	project *project
	store   *dropbox.Store
	swarm   bridge.Swarm
	log     *slog.Logger

	off     bool                        // the daemon was started without a bridge
	trouble word                        // the last error, shown in the status
	names   atomic.Pointer[config.File] // the configuration whose names the bridge uses

	mu      sync.Mutex
	running config.IRC // the IRC configuration of the running bridge
	keys    map[string]string
	cancel  context.CancelFunc
	ended   chan struct{} // closed when the bridge has stopped
}

// follow applies a new configuration. If the bridge is connected and its settings have not
// changed, follow keeps it. Otherwise, follow stops the running bridge and starts a new
// one.
func (s *ircService) follow(ctx context.Context, file *config.File) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names.Store(file)
	keys, _ := channelKeys(file.IRC) // the bridge itself reports an error in the key file
	if s.cancel != nil && reflect.DeepEqual(s.running, file.IRC) && maps.Equal(s.keys, keys) && s.connected() {
		return // a bridge without a connection is restarted below, so that it reads its password again
	}
	s.stopLocked()
	if !file.IRC.On() || s.off {
		return
	}
	if err := s.store.MakeMailbox(ircbridge.Name); err != nil {
		s.log.Error("mailbox irc could not be created", "err", err)
	}
	if file.IRC.Apart {
		return
	}
	one := *s.project
	one.file = file
	ctx, s.cancel = context.WithCancel(ctx)
	s.running, s.keys, s.ended = file.IRC, keys, make(chan struct{})
	ended := s.ended
	go func() { // stop waits for this goroutine
		defer close(ended)
		keepRunning(ctx, s.log, "IRC", &s.trouble, func(ctx context.Context) error { return s.run(ctx, &one) })
	}()
}

func (s *ircService) connected() bool {
	st, err := bridge.ReadState(ircbridge.Folder(s.project.home.Dir()))
	return err == nil && st.Running && st.Connected
}

// lastWords is the maximum time that a stopping daemon waits for the bridge to post its
// messages. The next bridge posts those that remain.
const lastWords = 3 * time.Second

// drain waits until the bridge has posted the messages of the last turns, or until lastWords has
// passed.
func (s *ircService) drain(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lastWords)
	defer cancel()
	for s.connected() && s.left() > 0 {
		select {
		case <-ctx.Done():
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// left returns the number of messages that the bridge has not yet posted and filed.
func (s *ircService) left() int {
	box, err := s.store.Mailbox(ircbridge.Name)
	if err != nil {
		return 0
	}
	waiting, _ := box.Peek()
	underWay, _ := box.Claimed()
	return len(waiting) + len(underWay)
}

// stop stops the bridge and waits until it has stopped.
func (s *ircService) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopLocked()
}

func (s *ircService) stopLocked() {
	if s.cancel == nil {
		return
	}
	s.cancel()
	<-s.ended
	s.cancel = nil
	s.trouble.set("")
}

// run runs one bridge until it stops.
func (s *ircService) run(ctx context.Context, p *project) error {
	o, err := ircOptions(p, s.store, s.log)
	if err != nil {
		return err
	}
	o.Swarm, o.Agents = s.swarm, func() []string { return s.names.Load().Names() }
	o.Tags = func() map[string][]string { return s.names.Load().Tags() }
	o.Called = func(mailbox string) string { return calledBy(s.names.Load(), mailbox) }
	b, err := ircbridge.New(o)
	if err != nil {
		return err
	}
	return b.Run(ctx)
}

// A word holds the text of a service's last error. It is safe for concurrent use.
type word struct {
	mu   sync.Mutex
	text string // "" if there is no error
}

func (w *word) set(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = text
}

func (w *word) get() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text
}
