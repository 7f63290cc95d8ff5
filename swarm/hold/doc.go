// Package hold decides what keeps an agent from beginning a turn.
//
// Each hold is one small type with its own file. It is given only what it needs, and answers
// one question: does it keep this agent from beginning a turn now, and if so, until
// when, why, and what can a person do? Package swarm puts the holds into two ordered lists
// (swarm/holds.go). The first hold of a list that keeps the agent is the one that the status
// shows:
//
//	of an agent     attached, stopped, paused, off, limited, backoff, halted
//	of a message    draining, depends, budget, turns
//
//	            Over                     Now
//	Query ----------------> End    ----------------> Held
//	          the loop tells it,       the loop shows it, waits until
//	          forgets the record,      it ends, and keeps the mail
//	          and asks again
//
// A hold only answers: it ends nothing, tells nobody and waits for nothing. The agent's loop
// does all that, so anybody may ask the same lists: whether the lead agent can work, whether
// all agents are held, what the status shows without a daemon. Package journal corrects the
// records after the clock was set back.
//
// A hold knows no agent, no mailbox and no client. To add one, write its file, and add it to
// its list.
package hold
