# Keys shared by Vim and Neovim in a terminal (screen.sh). To be sourced.
source "$here/screen.sh"

# Goes to normal mode from any mode, with unambiguous keys.
leave() {
	keys 'C-\' C-n
}

# Runs a command of the editor.
run() {
	leave
	enter ":$1"
	keys Enter
}

# Runs a command that opens a page, and waits for the page.
page() { # command, what the page says it is
	run "$1"
	ready "skillsd://$2"
}

# Closes the page.
close() {
	run bwipeout!
	goes 'skillsd://' || give_up "the page does not go"
}
