#!/usr/bin/env bash
# Drives a real Vim with ALE in a terminal, by keystrokes, and reads what the screen shows.
# Wants SKILL_FILE; prints a line for each step and stops at the first that fails.
set -euo pipefail
repository=$(cd "$(dirname "$0")/../.." && pwd)
here=$(mktemp -d)
screen=(tmux -L "skillsd-vim-$$")
trap '"${screen[@]}" kill-server 2>/dev/null || true; rm -rf "$here"' EXIT

cat >"$here/vimrc" <<VIM
set nocompatible hidden noswapfile nomore signcolumn=yes
filetype plugin on
packadd ale
let g:ale_linters = {'markdown': ['skillsd']} | let g:ale_linters_explicit = 1
let g:ale_lint_delay = 50
source $repository/editors/vim/ale.vim
VIM

await() { # name, pattern
	for _ in $(seq 200); do
		if "${screen[@]}" capture-pane -p | grep -qE "$2"; then
			echo "ok   $1"
			return
		fi
		sleep 0.1
	done
	echo "FAIL $1: the screen shows"
	"${screen[@]}" capture-pane -p
	exit 1
}

await_gone() { # name, pattern
	for _ in $(seq 100); do
		if ! "${screen[@]}" capture-pane -p | grep -qE "$2"; then
			echo "ok   $1"
			return
		fi
		sleep 0.1
	done
	echo "FAIL $1: the screen shows"
	"${screen[@]}" capture-pane -p
	exit 1
}

"${screen[@]}" -f /dev/null new-session -d -x 110 -y 30 "vim -N -u '$here/vimrc' -i NONE '$SKILL_FILE'"
"${screen[@]}" send-keys 3G
await "the finding is marked on the line of the description" '^(>>|E |W |--).*description: Deploys'
await "its text is shown for the line under the cursor" '^yaml/unquoted-colon: '
"${screen[@]}" send-keys ':call setline(3, "description: Deploys to staging. Use it before a release.")' Enter
await_gone "the mark goes when the text is mended" '^(>>|E |W |--).*description: Deploys'
"${screen[@]}" send-keys ':SkillsdList' Enter
await ":SkillsdList lists the skill" '1 skill · 2 not shown'
