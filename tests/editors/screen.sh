# An editor in a terminal of its own, driven by keystrokes, and what its screen shows. To be sourced;
# wants NAME (what the editor is called here) and SHOTS (a folder for what is seen).
#
# Keys are pressed when the state that they need is on the screen, and never a moment after: `ready` before
# them where that state comes by itself. A key right behind an Escape would be one with Alt.
set -euo pipefail

terminal=(tmux -L "skillsd-$NAME-$$")
trap '"${terminal[@]}" kill-server 2>/dev/null || true' EXIT
mkdir -p "$SHOTS"

# How long anything may take to come, in turns of a tenth of a second.
turns=600

# Starts a command in the terminal.
start() {
	"${terminal[@]}" -f /dev/null new-session -d -x 130 -y 36 "$*"
	# A lone Escape is one at once.
	"${terminal[@]}" set-option -s escape-time 0 >/dev/null
}

# Presses keys by their names: Enter, Escape, C-x, M-x, a.
keys() {
	"${terminal[@]}" send-keys "$@"
}

# Types a text as it is.
enter() {
	"${terminal[@]}" send-keys -l -- "$1"
}

screen() {
	"${terminal[@]}" capture-pane -p
}

# Says what the screen was when something did not come, and ends.
give_up() {
	echo "FAIL $1: the screen shows"
	screen | tee "$SHOTS/$NAME-failure.txt"
	exit 1
}

# Returns whether the screen shows a pattern now. It is taken whole first: a `grep` that has seen enough
# would end the program that writes to it, and a screen that could not be taken shows nothing missing.
shows() {
	local shown
	shown=$(screen) || give_up "the terminal is gone"
	grep -qE -- "$1" <<<"$shown"
}

# Returns whether the screen comes to show a pattern.
comes() {
	local turn
	for ((turn = 0; turn < turns; turn++)); do
		shows "$1" && return
		sleep 0.1
	done
	return 1
}

# Returns whether the screen comes to show a pattern no more: twice in a row, because what is drawn again
# is gone for a moment.
goes() {
	local turn without=0
	for ((turn = 0; turn < turns; turn++)); do
		if shows "$1"; then
			without=0
		else
			without=$((without + 1))
			((without < 2)) || return 0
		fi
		sleep 0.1
	done
	return 1
}

# Waits until the screen shows a pattern: what that means, the pattern.
await() {
	comes "$2" || give_up "$1"
	echo "ok   $1"
}

# Waits until the screen shows a pattern no more.
await_gone() {
	goes "$2" || give_up "$1"
	echo "ok   $1"
}

# Waits for what has to be there before the next key.
ready() {
	comes "$1" || give_up "there is no \`$1\`"
}

# Keeps what the screen shows.
shot() {
	screen >"$SHOTS/$NAME-$1.txt"
}

# Says that the editor has one conversation with the daemon about the worktree: the one that its commands
# show is its language server's too.
one_conversation() { # what it is called, before what tells editors of the kind apart
	local kept
	kept=$(skillsd session list --json | jq -r '.sessions[].session') || give_up "the conversations are not told"
	[[ $kept =~ ^$1-[0-9-]+:$SKILL_ROOT$ ]] || give_up "not one conversation: $kept"
	echo "ok   and that is the editor's one conversation"
}
