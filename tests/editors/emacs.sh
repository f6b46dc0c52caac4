#!/usr/bin/env bash
# Tests editors/emacs/skillsd.el in a real Emacs in a terminal, by keystrokes and screen content.
# Needs NAME, EDITORS, SHOTS, SKILL_FILE and SKILL_ROOT; its argument is the client: eglot or
# lsp-mode.
here=$(cd "$(dirname "$0")" && pwd)
source "$here/screen.sh"
export SKILLSD_CLIENT=$1
case $SKILLSD_CLIENT in
	eglot) quick_fix=eglot-code-actions rename=eglot-rename describe=eldoc-doc-buffer ;;
	lsp-mode) quick_fix=lsp-execute-code-action rename=lsp-rename describe=lsp-describe-thing-at-point ;;
esac

# Runs a command by name.
run() {
	keys M-x
	ready '^M-x'
	enter "$1"
	keys Enter
}

# Goes to a line and a column.
go() {
	keys M-:
	ready '^Eval:'
	enter "(progn (goto-char (point-min)) (forward-line $(($1 - 1))) (move-to-column $2))"
	keys Enter
	ready "L$1 "
}

# Visits a file of the worktree.
visit() {
	keys C-x C-f
	ready '^Find file:'
	keys C-a C-k
	enter "$SKILL_ROOT/$1"
	keys Enter
}

start emacs -nw -Q -l "'$here/emacs-init.el'" "'$SKILL_FILE'"
# lsp-mode takes diagnostics only while the buffer of the file is the current one.
await "the finding is counted" 'Flymake\[[0-9 ]*[1-9]'
run flymake-show-buffer-diagnostics
await "it is listed, on the line of the description" '^ *3 +[0-9]+ +(warning|error) .*inside an unquoted value'
shot 1-finding
keys C-x 1

go 3 0
keys C-o
enter mode
run completion-at-point
if [[ $SKILLSD_CLIENT == lsp-mode ]]; then
	# It shows all completions of the server for the word, the closest first.
	ready '^model '
	shot 2-completion
	run switch-to-completions
	keys Enter
fi
await "a key is completed as a key" '^model:'
keys C-x 1 C-a C-k C-k
await_gone "and taken back" '^model:'

go 3 20
run "$quick_fix"
ready 'Pick an action|Select code action'
enter Quote
keys Tab
await "the quick fix is offered" 'action.*: Quote the value'
shot 3-quick-fix
keys Enter
await "it puts the value in quotes" "description: [\"']Deploys: to staging"
await "and the finding goes" 'Flymake(:Wait)?\[0 0\]|Flymake '
keys C-x C-s

run skillsd-list
await "M-x skillsd-list says what a skill waits for" 'waits until a file is touched that matches'
keys C-x 1
visit src/main.rs
ready 'fn main'
run skillsd-list
await "visiting a matching file activates the skill" 'rust +activated'
shot 4-activated
keys C-x 1
run skillsd-catalog
ready '^Profile'
enter claude-code
keys Enter
await "M-x skillsd-catalog shows what the prompt is told" '- rust: How Rust'
keys C-x 1
visit .claude/commands/release.md
ready 'says how the rest'
go 5 26
run "$describe"
await "the language server says that it is activated" 'activated: '
one_conversation emacs
keys C-x 1
visit .claude/skills/deploy/SKILL.md
ready '# Deploy'
run skillsd-explain
ready '^Skill'
keys Enter
await "M-x skillsd-explain explains the current file" 'shows `deploy` to its model'
keys C-x 1

go 2 7
run "$rename"
ready '^Rename'
keys C-a C-k
enter ship
keys Enter
if [[ $SKILLSD_CLIENT == eglot ]]; then
	# This version of eglot cannot rename files.
	await "a rename is refused, with the reason" 'cannot rename files'
else
	await "a skill is renamed" '^name: ship'
	await "with its directory, and the buffer goes along" '> ship >|SKILL.md<ship>'
	visit src/main.rs
	ready 'fn main'
	visit .claude/skills/ship/SKILL.md
	await "so it is there, and saved" '^name: ship'
	visit .claude/skills/rust/SKILL.md
	await "and who speaks of it" '`/ship` comes later'
fi
shot 5-renamed
