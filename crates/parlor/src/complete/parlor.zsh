#compdef parlor
# Completions of parlor for zsh. Put them into a file `_parlor` in a folder of your fpath, such as ~/.zfunc, before compinit is called.
_parlor() {
    local line
    local -a found
    for line in "${(@f)$(parlor __complete zsh "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
        case $line in
            :files) _files ;;
            :folders) _files -/ ;;
            ?*) found+=("$line") ;;
        esac
    done
    (( $#found )) && _describe -V parlor found
}
if [ "$funcstack[1]" = "_parlor" ]; then
    _parlor "$@"
else
    compdef _parlor parlor
fi
