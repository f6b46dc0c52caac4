#!/usr/bin/env bash
# Tests editors/kakoune/kakrc in a real Kakoune with kak-lsp in a terminal, by keystrokes and screen
# content. Needs NAME, EDITORS, SHOTS, HOME, SKILL_FILE and SKILL_ROOT; its argument is the
# directory of kak-lsp.
here=$(cd "$(dirname "$0")" && pwd)
source "$here/screen.sh"
export PATH=$1:$PATH

mkdir -p "$HOME/.config/kak"
cat >"$HOME/.config/kak/kakrc" <<KAK
eval %sh{kak-lsp}
source "$EDITORS/kakoune/kakrc"
KAK

# Leaves insert mode and waits: a key right after Escape would be read as Alt plus that key.
leave() {
	keys Escape
	goes 'insert [0-9]+ sel' || give_up "insert mode does not end"
}

# Runs a command of the editor, from normal mode.
run() {
	enter ":$1"
	keys Enter
}

start kak "'$SKILL_FILE'"
await "the finding is marked on the line of the description" '^!description: Deploys'
shot 1-finding
keys g g j o
enter mode
await "a key is completed as a key" 'model +Property'
shot 2-completion
leave
keys u
await_gone "and taken back" '^.mode$'
await "the finding is there again" '^!description: Deploys'
keys g g j j
enter 20l
run lsp-code-actions
await "the quick fix is offered" 'Quote the value'
shot 3-quick-fix
keys Enter
await "it puts the value in quotes" "description: [\"']Deploys: to staging"
await_gone "and the mark goes" '^!'
run write

run skillsd-list
await ":skillsd-list says what a skill waits for" 'waits until a file is touched that matches'
run 'edit src/main.rs'
ready 'fn main'
run skillsd-list
await "opening a matching file activates the skill" 'rust +activated'
shot 4-activated
run 'skillsd-catalog claude-code'
await ":skillsd-catalog shows what the prompt is told, with what is activated" '- rust: How Rust'
run 'edit .claude/commands/release.md'
ready 'says how the rest'
run 'select 5.26,5.26'
run lsp-hover
await "the language server says that it is activated" 'activated: '
one_conversation kak
run "edit $SKILL_FILE"
ready '# Deploy'
run skillsd-explain
await ":skillsd-explain explains the current file" 'shows `deploy` to its model'
run skillsd-log
await ":skillsd-log shows the log" 'INFO listening'
# kak-lsp survives a closed terminal, and exits with the session.
run "kill!"
for ((turn = 0; turn < turns; turn++)); do
	screen >/dev/null 2>&1 || break
	sleep 0.1
done
