
# Completes names that the program knows; `compadd` quotes them. The program is the one in PATH, not
# the one at the path that is being typed, which may belong to somebody else.
_skillsd_names() {
    local name about
    local -a names shown
    while IFS=$'\t' read -r name about; do
        names+=("$name")
        shown+=("$name${about:+  -- $about}")
    done < <(command skillsd __complete zsh -- "${(@Q)words[1,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null </dev/null)
    (($#names)) || return 1
    [[ $PREFIX == --*=* ]] && compset -P '*='
    compadd -l -d shown -a names
}

