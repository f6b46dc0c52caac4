
# Completes names that the program knows; fish quotes them. The program is the one in PATH, not the
# one at the path that is being typed, which may belong to somebody else.
function __skillsd_find_names
    set -g __skillsd_names (command skillsd __complete fish -- (commandline -opc) (commandline -ct) 2>/dev/null </dev/null)
    test (count $__skillsd_names) -gt 0
end

function __skillsd_print_names
    __skillsd_find_names; and printf '%s\n' $__skillsd_names
end

complete -c skillsd -f -n __skillsd_find_names -a "(printf '%s\n' \$__skillsd_names)"
