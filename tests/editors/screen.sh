# Runs an editor in its own terminal, sends keystrokes, and reads its screen. To be sourced; needs
# NAME (the editor's name here) and SHOTS (a folder for screenshots).
#
# Keys are pressed once the required state is on the screen: use `ready` before them if that state
# appears by itself. A key right after Escape would be read as Alt plus that key.
set -euo pipefail

terminal=(tmux -L "skillsd-$NAME-$$")
trap '"${terminal[@]}" kill-server 2>/dev/null || true' EXIT
mkdir -p "$SHOTS"

# Timeout in tenths of a second.
turns=600

# Starts a command in the terminal.
start() {
	"${terminal[@]}" -f /dev/null new-session -d -x 130 -y 36 "$*"
	# Delivers a lone Escape without delay.
	"${terminal[@]}" set-option -s escape-time 0 >/dev/null
}

# Presses keys by name: Enter, Escape, C-x, M-x, a.
keys() {
	"${terminal[@]}" send-keys "$@"
}

# Types a text literally.
enter() {
	"${terminal[@]}" send-keys -l -- "$1"
}

screen() {
	"${terminal[@]}" capture-pane -p
}

# Prints the screen and exits after a timeout.
give_up() {
	echo "FAIL $1: the screen shows"
	screen | tee "$SHOTS/$NAME-failure.txt"
	exit 1
}

# Returns whether the screen shows a pattern now. The screen is captured completely first: `grep -q`
# would end the writing program early, and a failed capture would look like a missing pattern.
shows() {
	local shown
	shown=$(screen) || give_up "the terminal is gone"
	grep -qE -- "$1" <<<"$shown"
}

# Waits for a pattern on the screen and returns whether it appeared.
comes() {
	local turn
	for ((turn = 0; turn < turns; turn++)); do
		shows "$1" && return
		sleep 0.1
	done
	return 1
}

# Waits until a pattern is absent twice in a row, because redrawn text disappears for a moment, and
# returns whether it is.
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

# Waits until the screen shows a pattern. Arguments: description, pattern.
await() {
	comes "$2" || give_up "$1"
	echo "ok   $1"
}

# Waits until the screen no longer shows a pattern.
await_gone() {
	goes "$2" || give_up "$1"
	echo "ok   $1"
}

# Waits for the state that the next key needs.
ready() {
	comes "$1" || give_up "there is no \`$1\`"
}

# Saves the screen.
shot() {
	screen >"$SHOTS/$NAME-$1.txt"
}

# Checks that the editor has one session for the worktree: its commands and its language server
# share it.
one_conversation() { # what it is called, before what tells editors of the kind apart
	local kept
	kept=$(skillsd session list --json | jq -r '.sessions[].session') || give_up "the conversations are not told"
	[[ $kept =~ ^$1-[0-9-]+:$SKILL_ROOT$ ]] || give_up "not one conversation: $kept"
	echo "ok   and that is the editor's only session"
}
