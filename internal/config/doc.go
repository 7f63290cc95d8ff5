// Package config reads claude-swarm.yaml, the file that defines the agents of a project.
//
// [Load] returns a complete configuration: paths are absolute, every key has a value, and
// the keys under defaults have been merged into each agent. An agent's own key takes
// precedence, and its list replaces the list in defaults. Only the names in env,
// mcp_servers and backend_options, and the permission lists, are merged.
//
//	claude-swarm.yaml --Load--> File --CheckFolders--> start
//	                     \--> Errors (exit status 78)
//
// For a file with mistakes, Load returns [Errors]: all problems, in the order of the
// file, each with its line, its column and the nearest known name. The package does not
// guess, and it ignores no key: an unknown key is an error, and so is a key of a
// feature that this version does not have. It is also an error if YAML would read a value
// as a different type, such as the number 4 in place of text, or if an agent has a key
// that its kind of client does not support. Such a key in defaults does not apply to that
// agent, and [File.Notes] reports this.
//
// Load does not require that the folders in the file exist, because a mailbox can be read
// and written even on a machine that does not have the project's folder.
// [File.CheckFolders] checks that they exist; start, reload, config check and doctor call
// it.
//
// Each key is a field of a struct. The field's tags specify the allowed values, the
// default, the bounds and the meaning. Where the daemon uses a setting as it is in the file,
// the struct is the daemon's own: swarm.AgentSettings with the settings of a turn and of
// the client in it, budget.Settings, supervisor.Settings and others. A struct of this
// package has the keys that only this package interprets, or whose values it converts. A
// decoder walks through the nodes of the file and the structs in parallel, and records the
// position of each key for later checks.
//
//	load               Load and Parse: the file, then its agents, then the keys that name agents
//	  |
//	whole, paths       checks that need the whole file: names, folders, IRC
//	  |
//	kinds, options     how the keys of an agent depend on its kind of client
//	  |
//	decode             nodes to structs, along their tags
//	  |
//	file, agent, permissions, policy, irc   the structs of this package, with their checks
//	servers, budget                         the checks of structs of other packages
//	  |
//	rules, words, span, fields   what a text must be; what the tags say
//	  |
//	nodes, errors      the nodes of the file and the place of each key; the errors
//
// [Keys] is the reference: every key with its type, default and meaning.
// docs/configuration.md is generated from it. [Template] is the file that init writes.
package config
