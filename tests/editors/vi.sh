# Vim's and Neovim's keys, for an editor in a terminal (screen.sh). To be sourced.
source "$here/screen.sh"

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
