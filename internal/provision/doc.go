// Package provision makes a folder into a project of claude-swarm.
//
// [Init] writes what is missing and leaves what is there: to repeat it is
// harmless, and after an agent was added to claude-swarm.yaml it makes that
// agent's mailbox.
package provision
