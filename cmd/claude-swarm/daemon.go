package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"gopkg.in/natefinch/lumberjack.v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/client"
	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/control"
	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/internal/lineage"
	"github.com/claude-swarm/claude-swarm/internal/policy"
	"github.com/claude-swarm/claude-swarm/internal/view"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/backends"
)

// A daemon is the swarm of one project together with what this program adds: a reloadable
// configuration, a control socket, the IRC bridge, webhooks, and two ways to stop.
type daemon struct {
	*swarm.Swarm
	order     daemonOrder
	log       *slog.Logger
	logFile   io.Closer
	socket    *socket
	lock      *projectLock
	gate      *policy.Gate
	announcer *ircAnnouncer
	irc       *ircService
	webhooks  *hookService

	stopping, killing context.Context
	stop, kill        context.CancelFunc

	mu      sync.Mutex
	over    error          // why the daemon ends although nobody stopped it, or nil
	file    *config.File   // the current configuration
	refused *swarm.Problem // why the last reload kept the old configuration, or nil
}

// runDaemon runs the daemon. It returns when the last turn has ended and the services have
// stopped.
func runDaemon(ctx context.Context, o daemonOrder) (err error) {
	// The daemon handles Ctrl-C itself, because the first Ctrl-C must not cancel any running
	// work.
	ctx = context.WithoutCancel(ctx)
	p := o.project
	if err := checkOutside(p.file); err != nil {
		return badConfig(err)
	}
	if err := p.home.Make(); err != nil {
		return err
	}
	// A caller waiting for the daemon to exit watches for its connection to close.
	// Therefore, the connections are closed last, after the locks and the socket are
	// released for the next daemon.
	answering, silent := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer silent()
	last := func(f func() error) { err = errors.Join(err, f()) }

	lock := &projectLock{home: p.home}
	if err := lock.lock(); err != nil {
		return alreadyRuns(err)
	}
	defer func() { last(lock.release) }()
	log, logFile := newDaemonLog(p, o.stderr)
	if err := runner.BecomeReaper(); err != nil {
		log.Warn("orphans of a turn can be found only by their mark", "err", err)
	}
	store, err := openOwnStore(p)
	if err != nil {
		return err
	}
	defer func() { last(store.Close) }()
	unlock, err := store.Lock()
	if locked, ok := errors.AsType[*dropbox.LockedError](err); ok {
		return fail(exitFailed, "stop the other daemon, or give this project a separate dead_drop_dir",
			"another daemon is already running for %s: %s", p.file.DeadDropDir, locked.Holder)
	} else if err != nil {
		return err
	}
	defer func() { last(unlock) }()
	socket, err := openSocket(p)
	if err != nil {
		return err
	}
	defer socket.close()

	d, err := newDaemon(ctx, o, store, log)
	if err != nil {
		return err
	}
	d.socket, d.lock, d.logFile = socket, lock, logFile
	if err := d.choose(ctx, o.agents, o.by); err != nil {
		return err
	}
	var grown []string
	if old := config.InForce(p.file.Path); old != nil {
		grown = config.Grown(old, p.file)
	}
	d.keepConfig()
	d.tellGrown(grown, o.by, os.Getppid())
	// Signal handling starts before the daemon reports that it is ready, because a caller
	// may send a signal immediately after that.
	sigs := make(chan os.Signal, 8)
	signal.Notify(sigs, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer signal.Stop(sigs)
	d.irc.follow(answering, p.file)
	defer d.irc.stop()
	if err := d.webhooks.begin(ctx, p.file); err != nil {
		return err
	}
	defer d.webhooks.stop()
	wg.Go(func() { d.signals(answering, sigs, o.stderr) })
	wg.Go(func() { d.answer(answering, func() { o.ready(grown) }) })
	wg.Go(func() { d.keepPast(answering, p.home.GateFile()) })
	err = d.Run(d.stopping, d.killing)
	d.savePast(p.home.GateFile()) // must finish before the next daemon can read the file
	d.webhooks.drain(d.killing)
	d.irc.drain(d.killing)
	d.irc.stop()
	d.webhooks.stop()
	if n := runner.EndAdopted(orphanGrace); n > 0 {
		log.Warn("ended processes that were still running after their turns", "processes", n)
	}
	log.Info("daemon stopped")
	return errors.Join(err, d.endedBy())
}

// orphanGrace is the time from SIGTERM to SIGKILL for processes that are still running after
// their turns.
const orphanGrace = time.Second

// newDaemon creates the daemon and its swarm.
func newDaemon(ctx context.Context, o daemonOrder, store *dropbox.Store, log *slog.Logger) (*daemon, error) {
	p := o.project
	program, err := ownProgram()
	if err != nil {
		return nil, err
	}
	told, err := listeners(ctx, p.file, log)
	if err != nil {
		return nil, err
	}
	var tools *runner.Server
	if !o.noTools {
		tools = toolServer(program)
	}
	g := policy.NewGate(client.PolicyOf(p.file), nil)
	if err := g.Load(p.home.GateFile()); err != nil {
		log.Warn("recent decisions could not be loaded: rates start from zero", "err", err)
	}
	announcer := newIRCAnnouncer(o.ircOf(p.file))
	announcer.silent = o.noIRC
	hooks, err := newHookService(p, store, announcer, log.With("part", "webhooks"))
	if err != nil {
		return nil, err
	}
	told = append(told, hooks.listener())
	d := &daemon{order: o, log: log, file: p.file, gate: g, announcer: announcer}
	s, err := swarm.New(swarm.Options{
		LockLost: func() bool { return d.lock.lost() }, Restored: d.restored, Taken: d.displaced, Moved: d.moved,
		Project: p.file.Dir, Config: p.file.Path, Store: store, Plan: o.planOf(p.file), Backends: backends.New(),
		Program: program, Tools: tools, Version: version, Gate: g, Listeners: told, Announcer: announcer, Advise: announcer.advice(p.home, log), InFile: agentsIn(p.file.Path), Log: log, Environ: os.Environ(),
	})
	if err != nil {
		return nil, err
	}
	d.Swarm = s
	d.irc = &ircService{project: p, store: store, swarm: daemonVoice{p, store}, log: log.With("part", "irc"), off: o.noIRC}
	d.webhooks, hooks.tell = hooks, s.Tell
	d.killing, d.kill = context.WithCancel(ctx)
	d.stopping, d.stop = context.WithCancel(d.killing) // killing implies stopping
	return d, nil
}

// agentsIn returns a function that reads the names of the agents in a configuration file.
func agentsIn(path string) func() []string {
	return func() []string {
		file, err := config.Load(path)
		if err != nil {
			return nil // reload says what is wrong with the file
		}
		return file.Names()
	}
}

// pastEvery is the interval at which the gate's recent decisions are saved. A crash loses
// the decisions made after the last save.
const pastEvery = 10 * time.Second

// keepPast saves the gate's recent decisions at intervals of pastEvery until ctx is done.
func (d *daemon) keepPast(ctx context.Context, file string) {
	t := time.NewTicker(pastEvery)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			d.savePast(file)
		case <-ctx.Done():
			return
		}
	}
}

func (d *daemon) savePast(file string) {
	if err := d.gate.Save(file); err != nil {
		d.log.Warn("a restart will forget the recent messages", "err", err)
	}
}

// choose starts the named agents and stops the others. Without names, it changes nothing.
func (d *daemon) choose(ctx context.Context, names []string, by string) error {
	if len(names) == 0 {
		return nil
	}
	for _, name := range d.file.Names() {
		var err error
		if slices.Contains(names, name) {
			err = d.StartAgent(name, by)
		} else {
			_, err = d.StopAgent(ctx, name, by, false)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// bridgeElsewhere reports whether the person runs the bridge to IRC separately from the
// daemon. It can then be in another container.
func (d *daemon) bridgeElsewhere() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.file.IRC.On() && d.file.IRC.Apart
}

// socketCheck is the interval at which the daemon checks that its socket still exists.
const socketCheck = 30 * time.Second

// answer handles connections to the control socket as soon as the swarm is ready.
func (d *daemon) answer(ctx context.Context, ready func()) {
	select {
	case <-d.Ready():
	case <-ctx.Done():
		return
	}
	d.log.Info("daemon is ready", "pid", os.Getpid(), "version", version, "socket", d.socket.path())
	ready()
	server := control.NewServer(d, control.Options{
		Version: version, Log: d.log, CallerOf: d.socket.project.home.CallerOf,
		Unseen: d.bridgeElsewhere, Whispers: d.Whispers,
	})
	var wg sync.WaitGroup
	defer wg.Wait()
	serve := func(l *net.UnixListener) {
		wg.Go(func() {
			if err := server.Serve(ctx, l); err != nil {
				d.log.Error("control socket ended", "err", err)
			}
		})
	}
	serve(d.socket.listener())
	check := time.NewTicker(socketCheck)
	defer check.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-check.C:
		}
		l, err := d.socket.renew()
		if err != nil {
			d.log.Warn("control socket was removed and cannot be recreated", "err", err)
		} else if l != nil {
			d.log.Warn("control socket was removed and recreated", "socket", l.Addr().String())
			serve(l)
		}
	}
}

// signals handles the process's signals. The first SIGINT or SIGTERM asks the daemon to stop,
// and the second stops the running turns. SIGHUP makes the daemon reload the configuration.
func (d *daemon) signals(ctx context.Context, sigs <-chan os.Signal, stderr io.Writer) {
	asked := false
	for {
		select {
		case <-ctx.Done():
			return
		case sig := <-sigs:
			switch {
			case sig == syscall.SIGHUP:
				if _, err := d.Reload(control.ReloadOrder{By: sig.String(), Signal: true}); err != nil && stderr != nil {
					fmt.Fprintf(stderr, "claude-swarm: the old configuration stays in force: %v\n", err)
				}
			case asked:
				d.Shutdown(sig.String(), true)
			default:
				asked = true
				d.Shutdown(sig.String(), false)
				if stderr != nil {
					fmt.Fprintln(stderr, "claude-swarm: stopping when the running turns have ended; signal again to end them now")
				}
			}
		}
	}
}

// Shutdown makes the daemon stop. If now is set, it also stops the running turns.
func (d *daemon) Shutdown(by string, now bool) {
	d.log.Info("daemon was told to stop", "by", by, "now", now)
	if now {
		d.kill()
	} else {
		d.stop()
	}
}

// Subscribe returns the swarm's feed as the interface type that the control server expects.
func (d *daemon) Subscribe(f swarm.Filter) control.Feed { return d.Swarm.Subscribe(f) }

// Status returns the status of the swarm and adds the information that only the daemon
// has.
func (d *daemon) Status(names ...string) (swarm.Status, error) {
	st, err := d.Swarm.Status(names...)
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil {
		return st, err
	}
	if gone := d.missingConfig(); gone != nil {
		st.Trouble = append(st.Trouble, *gone)
	}
	if d.refused != nil {
		st.Trouble = append(st.Trouble, *d.refused)
	}
	if what := d.irc.trouble.get(); what != "" {
		st.Trouble = append(st.Trouble, swarm.Problem{Why: what})
	}
	st.Trouble = append(st.Trouble, d.webhooks.problems(time.Now())...)
	if st.IRC, err = view.IRCOf(d.file, d.irc.project.home); err != nil { // the folders were moved or deleted
		st.Trouble = append(st.Trouble, swarm.Problem{Why: "IRC: " + err.Error()})
	}
	if st.IRC != nil && d.order.noIRC && !st.IRC.Running {
		st.IRC.Why, st.IRC.Next = "the daemon was started with --"+noBridge, view.RestartDaemon
	}
	return st, nil
}

// Reload reads the configuration file again. If the file contains a mistake or a change that
// requires a restart, or if rights would grow while turns are running or by a signal and the order
// does not accept that, the old configuration stays in force, and the status shows the reason until
// Reload succeeds.
func (d *daemon) Reload(o control.ReloadOrder) (swarm.Changes, error) {
	by := o.By
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.missingConfig() != nil { // the status says so until it is back
		err := configGone(d.file.Path)
		return swarm.Changes{}, &control.Error{Code: control.CodeBadConfig, Message: err.Error(), Hint: nextStep(err)}
	}
	file, err := config.Load(d.file.Path)
	if err == nil {
		err = checkOutside(file)
	}
	if err == nil {
		err = needsRestart(d.file, file)
	}
	var changes swarm.Changes
	var grown []string
	code := control.CodeBadConfig
	if err == nil {
		if grown = config.Grown(d.file, file); len(grown) > 0 && !o.Accept {
			if why := d.mayNotGrow(o); why != "" {
				code, err = control.CodeGrows, fail(exitFailed, acceptReload, "rights would grow %s: %s", why, strings.Join(grown, "; "))
			}
		}
	}
	if err == nil {
		changes, err = d.Swarm.Reload(d.order.planOf(file))
	}
	if err != nil {
		d.log.Warn("configuration was not reloaded", "by", by, "err", err)
		next := "claude-swarm config check"
		if code == control.CodeGrows {
			next = acceptReload
		}
		d.refused = &swarm.Problem{Why: "the configuration was not reloaded; the old one is in force: " + firstLine(err.Error()), Next: next}
		err = badConfig(err)
		return changes, &control.Error{Code: code, Message: err.Error(), Hint: nextStep(err)}
	}
	d.gate.Set(client.PolicyOf(file))
	d.announcer.set(d.order.ircOf(file))
	d.irc.follow(context.WithoutCancel(d.killing), file)
	if err := d.webhooks.follow(file); err != nil {
		d.log.Error("webhooks were not reloaded", "err", err)
	}
	d.Swarm.ListenersChanged()
	changes.Keys, changes.Grown = config.ChangedKeys(d.file, file), grown
	for _, name := range config.ChangedAgents(d.file, file) {
		if !slices.Contains(changes.Changed, name) { // some settings, such as a budget, are not part of the agent's swarm.Spec
			changes.Changed = append(changes.Changed, name)
		}
	}
	slices.Sort(changes.Changed)
	d.file, d.refused = file, nil
	d.keepConfig()
	d.tellGrown(grown, by, o.PID)
	d.Swarm.TellGone()
	d.log.Info("configuration was reloaded", "by", by, "added", changes.Added, "removed", changes.Removed, "changed", changes.Changed, "keys", changes.Keys)
	return changes, nil
}

// mayNotGrow returns why a reload must not extend rights, or "".
func (d *daemon) mayNotGrow(o control.ReloadOrder) string {
	switch {
	case d.isWorking():
		return "while turns are running"
	case o.Signal: // a program that a turn left behind can send it too
		return "by a signal, which does not say who sent it"
	}
	return ""
}

// acceptReload is what a person types to let rights grow where a reload alone does not.
const acceptReload = "claude-swarm reload --accept, if that is what you want"

// isWorking reports whether a turn is running. It may be waiting for an answer, or its agent
// may be on hold.
func (d *daemon) isWorking() bool {
	st, err := d.Swarm.Status()
	return err != nil || slices.ContainsFunc(st.Agents, func(a swarm.AgentStatus) bool { return a.Message != nil })
}

// tellGrown tells the person which rights of agents a configuration extended, and which
// programs put it into force: the process with the given pid and its ancestors.
func (d *daemon) tellGrown(grown []string, by string, pid int) {
	if len(grown) == 0 {
		return
	}
	if names := lineage.Names(pid); pid != 0 && len(names) > 0 {
		by = strings.Join(names, " ← ")
	}
	d.log.Warn("rights grew", "grown", grown, "by", by)
	d.Swarm.Tell(notice.RightsGrew{Grown: grown, By: by, At: time.Now()})
}

// keepConfig writes a copy of the configuration that is in force. Verbs use the copy if the
// configuration file contains a mistake.
func (d *daemon) keepConfig() {
	if err := d.file.KeepInForce(durable.Files{}); err != nil {
		d.log.Warn("the configuration was not copied: if the file has a mistake, mail waits until it is corrected", "err", err)
	}
	if err := d.file.KeepSlug(durable.Files{}); err != nil {
		d.log.Warn("if the project's folder is moved, its channels on IRC will have other names", "err", err)
	}
}

// openOwnStore opens the project's store and creates it if it does not exist.
func openOwnStore(p *project) (*dropbox.Store, error) {
	store, err := dropbox.Open(p.file.DeadDropDir, p.storeOptions())
	if !errors.Is(err, dropbox.ErrNoStore) {
		return store, err
	}
	if err := dropbox.Create(p.file.DeadDropDir); err != nil {
		return nil, err
	}
	return dropbox.Open(p.file.DeadDropDir, p.storeOptions())
}

// newDaemonLog returns a logger that writes JSON to the daemon's log. If stderr is not nil,
// the logger also writes human-readable text to it. The log file stays open until the process
// exits, because parts of the daemon write to it until then.
//
// Closing file makes the logger open the file again with the next line.
func newDaemonLog(p *project, stderr io.Writer) (log *slog.Logger, file io.Closer) {
	out := &lumberjack.Logger{Filename: p.home.DaemonLog(),
		MaxSize: p.file.Log.MaxSizeMB, MaxBackups: p.file.Log.MaxBackups, MaxAge: p.file.Log.MaxAgeDays}
	handler := slog.Handler(slog.NewJSONHandler(p.home.Secrets().Writer(out), nil))
	if stderr != nil {
		handler = slog.NewMultiHandler(handler, slog.NewTextHandler(stderr, nil))
	}
	return slog.New(handler), out
}

func alreadyRuns(err error) error {
	if _, ok := errors.AsType[*runningError](err); ok {
		return hint(err, "claude-swarm status   (or claude-swarm restart)")
	}
	return err
}
