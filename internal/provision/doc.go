// Package provision makes a folder into a project of claude-swarm, and finds out
// what keeps one from working.
//
// [Init] writes what is missing and leaves what is there: to repeat it is
// harmless, and after an agent was added to claude-swarm.yaml it makes that
// agent's mailbox.
//
// [Examine] looks at everything that a swarm needs, and says of each thing
// whether it is good and, if not, what to do. It leaves nothing behind.
package provision
