// Package provision makes a folder into a project of claude-swarm, and finds out
// what keeps one from working.
//
// [Init] writes what is missing and leaves what is there: to repeat it is
// harmless, and after an agent was added to claude-swarm.yaml it makes that
// agent's mailbox. [Attach] makes a person's own session an agent. [Check] says what
// is missing or has changed since, and [Remove] takes all of it away again.
//
// The four go over the same parts. A manifest, setup.json in the daemon's folder, lists what
// was made, with a hash of each file. From the part, the manifest and the disk follows a
// condition, and from the condition what a verb does: the table is at the type condition.
//
//	init    attach    check    remove                     the verbs
//	  |        |        |         |
//	mailboxes, agentlines, gitignore, skill, sessionfiles    what a project has
//	  |
//	part ----------------------------- undo               one part: make, check; undo what was made
//	  |
//	setup                                                 one run
//	  |
//	manifest, owned, lines                                what is ours, and how we change it
//	  |
//	disk, report, json, quote                             files; what is told
//
// [Examine] looks at everything that a swarm needs, and says of each thing
// whether it is good and, if not, what to do. It leaves nothing behind.
//
//	doctor                                                     which checks, in which order
//	  |
//	clients, sessions, folders, strays, irc, leftovers, trial, …   the checks, a file for each subject
//	  |
//	checkup                                                    the findings
package provision
