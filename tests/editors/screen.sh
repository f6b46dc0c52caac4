# An editor in a terminal of its own, driven by keystrokes, and what its screen shows. To be sourced;
# wants NAME (what the editor is called here) and SHOTS (a folder for what is seen).
set -euo pipefail

terminal=(tmux -L "skillsd-$NAME-$$")
trap '"${terminal[@]}" kill-server 2>/dev/null || true' EXIT
mkdir -p "$SHOTS"

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

# Returns whether the screen comes to show a pattern, or with `no` before it comes to show it no more.
comes() {
	local turn
	for turn in $(seq 300); do
		if [[ $1 == no ]]; then
			screen | grep -qE -- "$2" || return 0
		elif screen | grep -qE -- "$1"; then
			return 0
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
	comes no "$2" || give_up "$1"
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
