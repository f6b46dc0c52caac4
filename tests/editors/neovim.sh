#!/usr/bin/env bash
# Tests this repository's plugin in a real Neovim, by keystrokes and screen content. Needs NAME,
# EDITORS, SHOTS, SKILL_FILE and SKILL_ROOT, and the program to run as its argument.
here=$(cd "$(dirname "$0")" && pwd)
source "$here/vi.sh"

start "$1" --clean \
	--cmd "'set rtp^=$EDITORS/neovim noswapfile nomore completeopt=menu,menuone shortmess+=AFIW'" \
	--cmd "'lua vim.diagnostic.config{ virtual_text = true }'" "'$SKILL_FILE'"
await "the finding is shown on the line of the description" 'description: Deploys: to staging.*■'
shot 1-finding

# Newer versions insert snippets if this option is set.
run 'lua if vim.lsp.completion then vim.lsp.completion.enable(true, vim.lsp.get_clients()[1].id, 0) end'
run 3
keys O
enter mode
keys C-x C-o
ready 'model +(Property|Field|[A-Z])'
keys C-y
await "a key is completed as a key" '^model:'
# If the value is offered, that happens later and needs insert mode.
[[ $NAME == neovim ]] || ready 'haiku'
shot 2-completion
leave
keys u
await_gone "and taken back" '^model:'
await "the finding is there again" 'description: Deploys: to staging.*■'

run 'call cursor(3, 21)'
run 'lua vim.lsp.buf.code_action()'
await "the quick fix is offered" '1: .*[Qq]uot'
shot 3-quick-fix
enter 1
keys Enter
await "it puts the value in quotes" "description: [\"']Deploys: to staging"
await_gone "and the finding goes" '■'
run w

if [[ $NAME != neovim ]]; then
	run 'call cursor(2, 1)'
	run 'lua vim.lsp.codelens.refresh{ bufnr = 0 }'
	await "a line says who uses the skill" 'used by 2'
	run 'lua vim.lsp.codelens.run()'
	await "and shows where: the other skill" 'rust/SKILL.md.*/deploy. comes later'
	await "and the command" 'release.md.*/deploy. first'
	run cclose
	goes 'release.md' || give_up "the list does not close"
fi

page SkillsdList 'list --all'
await ":SkillsdList says what a skill waits for" 'waits until a file is touched that matches'
close
run 'edit src/main.rs'
ready 'fn main'
page SkillsdList 'list --all'
await "opening a matching file activates the skill" 'rust +activated'
shot 4-activated
close
page 'SkillsdCatalog claude-code' 'catalog --profile claude-code'
await ":SkillsdCatalog shows what the prompt is told, with what is activated" '- rust: How Rust'
shot 5-catalog
close
run 'edit .claude/commands/release.md'
ready 'says how the rest'
run 'call cursor(5, 26)'
run 'lua vim.lsp.buf.hover()'
await "the language server says that it is activated" 'activated: '
one_conversation nvim
run "edit $SKILL_FILE"
ready '# Deploy'
page SkillsdExplain explain
await ":SkillsdExplain explains the current file" 'shows `deploy` to its model'
close
page SkillsdStatus status
await ":SkillsdStatus says how the daemon is" '^ *pid|pid [0-9]+'
close
page SkillsdLog logs
await ":SkillsdLog shows the log" 'INFO listening'
close

run 'call cursor(2, 8)'
run 'lua vim.lsp.buf.rename("ship")'
if [[ $NAME == neovim ]]; then
	await "a rename is refused, with the reason" 'cannot rename files .*manually'
	shot 6-renamed
else
	await "a skill is renamed" '^name: ship'
	await "with its directory" 'skills/ship/SKILL.md'
	run wall
	run 'edit .claude/skills/rust/SKILL.md'
	await "and who speaks of it" '`/ship` comes later'
	run 'edit .claude/commands/release.md'
	await "also where it was not open" '`/ship` first'
	run 'lua print("attached: " .. #vim.lsp.get_clients({ bufnr = 0 }))'
	await "commands have the language server too" 'attached: 1'
	shot 6-renamed
	run "edit ${SKILL_FILE/deploy/ship}"
	ready '# Deploy'
fi

run 'checkhealth skillsd'
await ":checkhealth finds the program" 'skillsd [0-9]'
await ":checkhealth finds the language server" 'the language server is running'
shot 7-health
run bwipeout!

run SkillsdRestart
run 'call setline(3, "description: Deploys: again.")'
await "the server works after :SkillsdRestart" 'description: Deploys: again.*■'
run qa!
