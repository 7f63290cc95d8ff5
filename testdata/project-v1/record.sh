#!/bin/sh
# record.sh PROGRAMS OUT: make a project with mail in every state, and store it in OUT.
#
# PROGRAMS is the folder that contains claude-swarm and claude, the stand-in that plays the
# client. OUT is a folder that does not exist yet. The README beside this script says how the
# programs are built, what is in the project and how it is stored.
set -eu
umask 077
programs=$(cd "$1" && pwd -P)
here=$(cd "$(dirname "$0")" && pwd -P)
case $2 in /*) out=$2 ;; *) out=$PWD/$2 ;; esac
test ! -e "$out" || { echo "$out is there already" >&2; exit 1; }

scratch=$(mktemp -d)
scratch=$(cd "$scratch" && pwd -P)
mkdir "$scratch/bin" "$scratch/home" "$scratch/run" "$scratch/project"
ln -s "$programs/claude-swarm" "$programs/claude" "$scratch/bin"
cd "$scratch/project"
cp "$here/claude-swarm.yaml" .
drop=.dead-drop
own=.claude-swarm

# clean COMMAND…: run a command without the caller's environment.
clean() {
	env -i PATH="$scratch/bin:/usr/bin:/bin" HOME="$scratch/home" XDG_RUNTIME_DIR="$scratch/run" \
		LANG=C.UTF-8 TZ=UTC "$@"
}
cs() { clean claude-swarm "$@" 2>>"$scratch/stderr"; }

# as NAME ARGUMENT…: run a verb that prints a message id, and keep the id under NAME.
as() {
	name=$1
	shift
	id=$(cs "$@" | head -n 1)
	echo "$id" | grep -qx '[a-z2-7]\{10\}' || { echo "$name: no id: $id" >&2; exit 1; }
	echo "$name $id" >>"$scratch/ids"
}
id() { sed -n "s/^$1 //p" "$scratch/ids"; }

# wait_for COMMAND: run COMMAND repeatedly until it succeeds, for at most 30 seconds.
wait_for() {
	n=0
	while ! sh -c "$1" >/dev/null 2>&1; do
		n=$((n + 1))
		test $n -lt 300 || { echo "not so after 30 s: $1" >&2; exit 1; }
		sleep 0.1
	done
}
# in_state NAME MAILBOX FOLDER: wait until a message is in the mailbox's cur, done or
# dead folder.
in_state() { wait_for "find $drop/$2/$3 -name '*-$(id "$1")*.md' | grep -q ."; }
# settled: wait until none of these agents is working on a message.
settled() { wait_for "! find $drop/planner/cur $drop/coder/cur $drop/reviewer/cur $drop/keeper/cur -name '*.md' | grep -q ."; }
# written NAME TEXT…: write a file with one argument per line, for a multi-line message.
written() {
	name=$1
	shift
	printf '%s\n' "$@" >"$name"
}

cs init >/dev/null
cs start >/dev/null
cs pause waiter --why 'release day' >/dev/null
cs subscribe 'task.*' --agent waiter >/dev/null
cs subscribe 'build.>' review.requested --agent coder >/dev/null
cs subscribe task.failed >/dev/null

# Published work: open, claimed, closed.
as open publish task.open 'Nobody has taken this yet'
as claimed publish task.claimed 'Taken and not closed'
as closed publish task.closed 'Taken and closed'
cs claim "$(id claimed)" >/dev/null
cs claim "$(id closed)" >/dev/null
cs ack "$(id closed)" closed by hand >/dev/null

# One task over several hops: lead, planner, coder, reviewer, and the answers back.
written for-planner.md '@cost 0.25' '@sh claude-swarm send coder --file for-coder.md --subject Part --wait' '@say The plan is carried out.'
written for-coder.md '@cost 0.5' '@sh claude-swarm send reviewer --file for-reviewer.md --subject Right? --type question --wait' '@say The part is done.'
written for-reviewer.md '@cost 0.125' '@say Yes, it is right.'
as hops send planner --file for-planner.md --subject 'Plan it'
in_state hops planner done
settled

# Done after a failed attempt; done with an attachment; done with a steered message.
written failed.md '@cost 0.0625' '@first fail the first attempt fails' '@say The second attempt passed.'
as retried send coder --file failed.md --subject 'Try twice'
in_state retried coder done
printf 'a file that goes along\n' >notes.txt
as attached send coder '@say I have read the file.' --subject 'With a file' --attach notes.txt
in_state attached coder done
written long.md '@cost 0.03125' '@sh sleep 3' '@sh echo again' '@say The long work is done.'
as long send coder --file long.md --subject Long
wait_for "grep -q 'sleep 3' $own/logs/coder.log"
as steered send coder 'Leave main.go alone' --now
in_state long coder done
in_state steered coder done

# Dead letters: failed too often, and not a message at all. Cancelled mail also becomes
# a dead letter.
as failed send reviewer '@fail the disk is upside down' --subject Unlucky
in_state failed reviewer dead
printf 'not\0text' >$drop/reviewer/binary.bin
wait_for "ls $drop/reviewer/dead | grep -q binary.bin"

# Mail waiting for a paused agent: one message of each priority, and a note.
as urgent send waiter 'This is urgent' --priority urgent
as normal send waiter 'This is normal' --key recorded-key
as low send waiter 'This can wait' --priority low
as note send waiter --type note 'For your information'
as cancelled send waiter 'Never mind'
cs cancel "$(id cancelled)" >/dev/null

# A stopped agent, with mail.
cs stop sleeper >/dev/null
as asleep send sleeper '@say I am awake again.'

# The lead's mail: one message read, one filed, the answers unread.
as question send coder '@sh claude-swarm send lead --type question --subject Tabs -- Tabs or spaces?'
in_state question coder done
wait_for "grep -l '^subject: \"*Tabs' $drop/lead/new/*.md"
echo "tabs $(grep -l '^subject: "*Tabs' $drop/lead/new/*.md | sed 's/.*Z-//; s/[.]md$//')" >>"$scratch/ids"
cs read "$(id tabs)" >/dev/null
as mine send lead 'A note to myself'
cs inbox --done "$(id mine)" >/dev/null

# The board, written with the agents' tools.
{
	printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"record","version":"1"}}}' \
		'{"jsonrpc":"2.0","method":"notifications/initialized"}' \
		'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"board_write","arguments":{"page":"decisions","text":"We use spaces."}}}' \
		'{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"board_write","arguments":{"page":"status","text":"Half of it is done."}}}'
	sleep 1
} | clean claude-swarm mcp >"$scratch/board.out"
grep -q spaces $drop/board/decisions*

# A compaction whose hook gave back the newest part of the window; the part before it is
# for the next prompt.
written blue.md '@cost 0.5' '@say I remember BLUE'
as blue send keeper --file blue.md --subject Blue
written green.md '@big 12000' '@say I remember GREEN'
as green send keeper --file green.md --subject Green
in_state blue keeper done
in_state green keeper done
cs compact keeper >/dev/null
wait_for "test -s $own/window/keeper.pending"

# A halted conversation, and a message that was refused in it.
as halted send coder '@say The first of a conversation.'
in_state halted coder done
cs halt --thread "$(id halted)" 'look at this first' >/dev/null
printf -- '---\nthread: %s\n---\nmore of it\n' "$(id halted)" >$drop/coder/tmp/1-20261121T045102.123456Z-rfsdrefsd2.md
mv $drop/coder/tmp/*-rfsdrefsd2.md $drop/coder/new/
echo 'refused rfsdrefsd2' >>"$scratch/ids"
wait_for "ls $drop/refused/coder | grep -q rfsdrefsd2"

# A restart writes the daemon's in-memory state to disk.
settled
cs restart >/dev/null

# One agent's account is at its limit.
written limited.md '@first limited 2h' '@say The limit is over.'
as limited send parked --file limited.md --subject 'Into the limit'
wait_for "grep -q '\"limits\"' $own/state.json"

# The daemon is killed while two clients are working: one ends on its own with a result
# that no daemon has seen, and the other is also killed.
written finisher.md '@cost 0.75' '@say at it' "@sh echo run >>runs.txt; sleep 4" '@say Finished without a daemon.'
written breaker.md '@cost 0.375' '@say at it' '@first sleep 600' '@say Done in the second attempt.'
as finished send finisher --file finisher.md --subject 'Outlive the daemon'
as broken send breaker --file breaker.md --subject 'Be killed'
wait_for "grep -q 'at it' $own/logs/finisher.log && grep -q 'at it' $own/logs/breaker.log && test -s runs.txt"
kill -9 "$(sed -n 's/^pid \([0-9]*\).*/\1/p' $own/daemon.lock)"
kill -9 "$(grep -o '"pid": *[0-9]*' "$own/turns/$(id broken)-1.json" | grep -o '[0-9]*')"
wait_for "grep -q '\"type\":\"result\"' '$own/turns/$(id finished)-1.jsonl'"

# Without a daemon: mail for IRC, a dropped file, and a message that is still being
# written.
as said irc send general 'Hello, all'
printf 'Dropped by hand' >$drop/coder/dropped.md
printf 'cut off' >$drop/coder/tmp/1-20261121T045102.123456Z-cutoffcut2.md

# The windows are stored with the lengths of their parts, so they must not contain a
# path.
if grep -rlF "$scratch" $own/window; then
	echo "a window has a path of this machine in it" >&2
	exit 1
fi
mkdir -p "$out/sessions" "$out/account"
cp -R . "$out/files"
cd "$out"
mv "$scratch"/home/.claude/standin/*/*.jsonl sessions
mv files/other-account/standin/*/*.jsonl account
rm -r files/other-account
mv files/$own files/claude-swarm
mv files/$drop files/dead-drop
mv files/dead-drop/.gitignore files/dead-drop/gitignore
(cd files && find . -type d | sort) >folders
cp "$scratch/ids" ids

# Paths on this machine and the recorded times become placeholders that the test
# replaces.
replace() { grep -rlF "$1" . | while read -r file; do sed -i "s|$1|$2|g" "$file"; done; }
replace "$scratch/project" @PROJECT@
replace "$scratch/home" @HOME@
replace "$scratch/run" @RUNTIME@
replace "$scratch/bin" @PROGRAMS@
replace "$programs" @PROGRAMS@
sed -i '/"limits"/,$ { s|"since": "[^"]*"|"since": "@SINCE@"|; s|"until": "[^"]*"|"until": "@UNTIL@"| }' files/claude-swarm/state.json
grep -q @UNTIL@ files/claude-swarm/state.json
rm -r "$scratch"
