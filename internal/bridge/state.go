package bridge

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/claude-swarm/claude-swarm/internal/discovery"
)

// A State is the state of the bridge. The bridge writes it after every change, but at most
// 4 times a second.
type State struct {
	V  int       `json:"v"`
	At time.Time `json:"at"` // when the state was written

	// Running reports whether a bridge is running now. [ReadState] determines this; the
	// last bridge that ran wrote all other fields.
	Running bool `json:"-"`

	Connected bool      `json:"connected"`
	Since     time.Time `json:"since"`              // when Connected last changed
	Why       string    `json:"why,omitempty"`      // why the bridge is not connected; never "" while the bridge runs without a connection
	NextTry   time.Time `json:"next_try,omitzero"`  // the time of the next attempt to connect; zero means never or unknown
	Server    string    `json:"server"`             // host:port
	Network   string    `json:"network,omitempty"`  // the network's name for itself
	Nick      string    `json:"nick,omitempty"`     // the bridge's current nick
	Wanted    string    `json:"wanted,omitempty"`   // the nick that the bridge should have, if its current nick is different
	Mask      string    `json:"mask,omitempty"`     // nick!user@host as others see it
	Account   string    `json:"account,omitempty"`  // the account that the bridge is logged in as
	Style     string    `json:"style"`              // the style in use
	Instead   string    `json:"instead,omitempty"`  // why Style is not the requested style
	Caps      []string  `json:"caps,omitempty"`     // the capabilities in use
	Heard     time.Time `json:"heard,omitzero"`     // all private messages up to this time are known
	Limits    Limits    `json:"limits"`             // the server's limits
	Channels  []Channel `json:"channels,omitempty"` // sorted

	Waiting    int            `json:"waiting"`  // messages waiting to be sent
	Unproven   int            `json:"unproven"` // messages sent but not confirmed yet
	Halted     bool           `json:"halted,omitempty"`
	Sent       int            `json:"sent"`     // messages since the bridge started
	Received   int            `json:"received"` // lines since the bridge started
	Denied     int            `json:"denied"`   // orders from people who are not permitted to give them
	Masked     int            `json:"masked"`   // messages in which a secret was masked
	Questions  []OpenQuestion `json:"questions,omitempty"`
	Reconnects int            `json:"reconnects"`
	LastError  string         `json:"last_error,omitempty"`
	LastAt     time.Time      `json:"last_error_at,omitzero"`
	Warnings   []string       `json:"warnings,omitempty"` // problems that a person should look at
}

// Limits are the server's limits, in bytes and lines; 0 means that the limit is unknown,
// or that the server does not offer the feature.
type Limits struct {
	Text           int    `json:"text,omitempty"` // the maximum length of a message in the project's channel
	Nick           int    `json:"nick,omitempty"`
	Channel        int    `json:"channel,omitempty"`
	Topic          int    `json:"topic,omitempty"`
	MultilineBytes int    `json:"multiline_bytes,omitempty"`
	MultilineLines int    `json:"multiline_lines,omitempty"`
	History        int    `json:"history,omitempty"`
	CaseMapping    string `json:"case_mapping,omitempty"`
}

// A Channel is a channel that the bridge is in, or is supposed to be in.
type Channel struct {
	Name       string    `json:"name"`
	Joined     bool      `json:"joined"`
	Why        string    `json:"why,omitempty"`         // why the bridge is not in the channel
	NextTry    time.Time `json:"next_try,omitzero"`     // the time of the next attempt to join, after the channel has refused several attempts
	NotRelayed string    `json:"not_relayed,omitempty"` // with the style relaymsg: why the agents' names are in brackets in this channel
	Topic      string    `json:"topic,omitempty"`
	Members    []Member  `json:"members,omitempty"` // sorted by nick; at most 200
	More       int       `json:"more,omitempty"`    // how many members are not listed
}

// A Member is a person or program in a channel.
type Member struct {
	Nick  string `json:"nick"`
	Modes string `json:"modes,omitempty"` // "@" for an operator, "+" for a voice, "" for neither
}

// An OpenQuestion is a question that has been shown but not yet answered.
type OpenQuestion struct {
	ID      string    `json:"id"`   // the question's id
	From    string    `json:"from"` // the agent that asked
	To      string    `json:"to"`   // the mailbox that contains the question: the lead's or the bridge's
	Channel string    `json:"channel"`
	At      time.Time `json:"at"`
}

// Folder returns the folder of the bridge with that name. home is the daemon's folder,
// which contains it.
func Folder(home, bridge string) string { return filepath.Join(home, bridge) }

func stateFile(dir string) string { return filepath.Join(dir, "state.json") }

// ReadState reads the state of the bridge whose files are in dir; see [Folder]. If no
// bridge has ever run, it returns the zero State.
func ReadState(dir string) (State, error) {
	var s State
	data, err := os.ReadFile(stateFile(dir))
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return State{}, fmt.Errorf("read the bridge's state: %w", err)
	}
	if s.Running, err = running(dir); err != nil {
		return State{}, fmt.Errorf("read the bridge's state: %w", err)
	}
	if s.Running && !s.Connected && s.Why == "" {
		s.Why = "the server has not let the bridge in yet" // the first attempt to connect is still in progress
	}
	return s, nil
}

func writeState(dir string, s State) error {
	s.V = 1
	data, err := json.MarshalIndent(s, "", "  ")
	if err == nil {
		err = writeVolatile(stateFile(dir), append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write the bridge's state: %w", err)
	}
	return nil
}

// ErrRunning reports that another process is the bridge of this project.
var ErrRunning = errors.New("another process is already running this project's bridge")

func lockFile(dir string) string { return filepath.Join(dir, "lock") }

// lock makes this process the only bridge of the project, until release is called or the
// process ends. The error is [ErrRunning] if another process is the bridge.
func lock(dir string) (release func() error, err error) {
	if err := discovery.MakeInHome(dir); err != nil {
		return nil, fmt.Errorf("lock the bridge: %w", err)
	}
	f, err := os.OpenFile(lockFile(dir), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the bridge: %w", err)
	}
	// A process that is reading the state holds a shared lock for a moment, so retry for
	// up to a second.
	for patience := time.Now().Add(time.Second); ; time.Sleep(10 * time.Millisecond) {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			break
		}
		if time.Now().After(patience) {
			return nil, errors.Join(ErrRunning, f.Close())
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock the bridge: %w", err), f.Close())
	}
	return f.Close, nil
}

// running reports whether a process holds the lock.
func running(dir string) (bool, error) {
	f, err := os.Open(lockFile(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	defer f.Close() // releases the lock
	err = unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}
