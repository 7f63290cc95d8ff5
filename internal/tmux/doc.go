// Package tmux displays a swarm in tmux, as a session with a titled pane for each agent.
// It is a thin wrapper; each pane runs a command that the caller chooses.
//
//	session  swarm-TTS-cpp-1f3a9c
//	window   +- coder ------------+- reviewer ---------+
//	         | 15:04:05 coder …   | 15:04:07 reviewer …|
//	         +- status -----------+--------------------+
//	         | coder  working 12s |
//	         +--------------------+
//
// The panes only display the swarm. Each pane runs a viewer such as `claude-swarm logs
// -f`, so a pane, the session or tmux itself can be closed at any time, and the swarm
// keeps running. [Server.Show] recreates closed panes.
//
// Package tmux runs tmux without the environment variables that mark a process as part of a
// turn (CLAUDE_SWARM_*). Otherwise, a tmux server that an agent started would be killed at
// the end of that agent's turn.
package tmux
