
# Completes names that the program knows. The program quotes them. It is the one in PATH, not the one
# at the path that is being typed, which may belong to somebody else.
_skillsd_names() {
    local name
    local -a names=()
    while IFS= read -r name; do
        names+=("$name")
    done < <(command skillsd __complete bash -- "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null </dev/null)
    ((${#names[@]} > 0)) && COMPREPLY=("${names[@]}")
}

