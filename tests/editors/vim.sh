#!/usr/bin/env bash
# Drives a real Vim with ALE in a terminal, by keystrokes, and reads what the screen shows.
# Wants NAME, EDITORS, SHOTS and SKILL_FILE.
here=$(cd "$(dirname "$0")" && pwd)
source "$here/screen.sh"

cat >"$HOME/vimrc" <<VIM
set nocompatible hidden noswapfile nomore signcolumn=yes completeopt=menu,menuone shortmess+=AFIW
filetype plugin on
packadd ale
let g:ale_linters = {'markdown': ['skillsd']} | let g:ale_linters_explicit = 1
let g:ale_lint_delay = 50
source $EDITORS/vim/ale.vim
VIM

# Goes to normal mode, from any other, by keys that nothing can be mistaken for.
leave() {
	keys 'C-\' C-n
}

# Runs a command of the editor.
run() {
	leave
	enter ":$1"
	keys Enter
}

# Runs a command that shows a page, and waits for that page.
page() { # command, what the page says it is
	run "$1"
	ready "skillsd://$2"
}

# Closes the page, before another one is looked at.
close() {
	run bwipeout!
	goes 'skillsd://' || give_up "the page does not go"
}

marked='^(>>|E |W |--).*description: Deploys'

start vim -N -u "'$HOME/vimrc'" -i NONE "'$SKILL_FILE'"
ready '# Deploy'
run 3
await "the finding is marked on the line of the description" "$marked"
await "its text is shown for the line under the cursor" '^yaml/unquoted-colon: '
shot 1-finding

keys O
enter mode
keys C-x C-o
ready 'model: '
shot 2-completion
keys C-y
await "a key is completed" '^..model:'
leave
keys u
await_gone "and taken back" '^..model:'
await "the finding is still there" "$marked"

run 'call cursor(3, 21)'
run ALECodeAction
await "the quick fix is offered" '1[):] .*[Qq]uot'
shot 3-quick-fix
enter 1
keys Enter
await "it puts the value in quotes" "description: [\"']Deploys: to staging"
await_gone "and the mark goes" "$marked"
run w

page SkillsdList 'list --all'
await ":SkillsdList says what a skill waits for" 'waits until a file is touched that matches'
close
run 'edit src/main.rs'
ready 'fn main'
page SkillsdList 'list --all'
await "opening a matching file activates the skill" 'rust +activated'
shot 4-activated
close
run "edit $SKILL_FILE"
ready '# Deploy'
page SkillsdExplain explain
await ":SkillsdExplain explains the current file" 'shows `deploy` to its model'
close
page SkillsdCatalog catalog
await ":SkillsdCatalog shows what the prompt is told" '<name>deploy</name>'
