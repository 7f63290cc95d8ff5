// Package git runs git so that nobody's code runs with it: no hook, no fsmonitor, no filter, no
// merge driver, no diff program, no signing, no transport to a remote, no prompt, and no variable
// that names another repository. An agent can write a hook or .git/config into a project, and git
// runs what is there as the user who calls it.
package git
