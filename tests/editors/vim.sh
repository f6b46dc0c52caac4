#!/usr/bin/env bash
# Tests a real Vim with ALE in a terminal, by keystrokes and screen content. Needs NAME, EDITORS,
# SHOTS, SKILL_FILE and SKILL_ROOT.
here=$(cd "$(dirname "$0")" && pwd)
source "$here/vi.sh"

cat >"$HOME/vimrc" <<VIM
set nocompatible hidden noswapfile nomore signcolumn=yes completeopt=menu,menuone shortmess+=AFIW
filetype plugin on
packadd ale
let g:ale_linters = {'markdown': ['skillsd']} | let g:ale_linters_explicit = 1
let g:ale_lint_delay = 50 | let g:ale_hover_to_preview = 1
source $EDITORS/vim/ale.vim
VIM

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
run 'edit .claude/commands/release.md'
ready 'says how the rest'
run 'call cursor(5, 26)'
run ALEHover
await "and the language server says so" 'activated: '
one_conversation vim
run pclose
run "edit $SKILL_FILE"
ready '# Deploy'
page SkillsdExplain explain
await ":SkillsdExplain explains the current file" 'shows `deploy` to its model'
close
page SkillsdCatalog catalog
await ":SkillsdCatalog shows what the prompt is told" '<name>deploy</name>'
