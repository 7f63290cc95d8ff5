// Package git runs git so that nobody's code runs with it: no hook, no fsmonitor, no signing,
// no prompt, and no variable that names another repository. An agent can write a hook into a
// project, and git runs hooks as the user who calls it.
package git
