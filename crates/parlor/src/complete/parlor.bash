# Completions of parlor for bash. Put them into ~/.local/share/bash-completion/completions/parlor
# (bash-completion reads them from there), or into any file that your ~/.bashrc reads.
_parlor() {
    local line
    COMPREPLY=()
    while IFS= read -r line; do
        case $line in
            :files) compopt -o default 2>/dev/null ;;
            :folders) compopt -o dirnames 2>/dev/null ;;
            *) COMPREPLY+=("$line") ;;
        esac
    done < <(LC_ALL=C; "${1/#\~/$HOME}" __complete bash "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" "$COMP_TYPE" 2>/dev/null)
}
complete -F _parlor parlor
