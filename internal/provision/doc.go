// Package provision turns a folder into a claude-swarm project, and diagnoses a project
// that does not work.
//
// [Init] writes missing files and leaves existing ones unchanged. It can be repeated
// safely, and then creates the mailboxes of agents that were added to claude-swarm.yaml.
// [Attach] makes a person's own session an agent. [Check] reports what is missing or has
// changed since it was created, and [Remove] removes everything that the others created.
//
// The four handle the same parts. A manifest, setup.json in the daemon's folder, lists what
// was created, with a hash of each file. The manifest and the disk determine the condition
// of a part, and the condition determines what a verb does with the part: see the table in
// the comment on condition.
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
//	disk, report, json, quote                             changes to files; the report; quoting
//
// [Examine] checks everything that a swarm needs. For each item, it reports whether the
// item is in order and, if not, what to do. It leaves no files behind.
//
//	doctor                                                     which checks, in which order
//	  |
//	clients, probes, sessions, folders, strays, irc, leftovers, trial, …   the checks, a file for each subject
//	  |
//	checkup                                                    the findings
package provision
