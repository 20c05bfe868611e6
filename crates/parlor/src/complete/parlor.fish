# Completions of parlor for fish. Put them into ~/.config/fish/completions/parlor.fish
function __parlor_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in (parlor __complete fish $words[2..-1] "$current" 2>/dev/null)
        switch $line
            case ':files'
                __fish_complete_path "$current"
            case ':folders'
                __fish_complete_directories "$current"
            case '*'
                printf '%s\n' $line
        end
    end
end
complete -c parlor -f -a '(__parlor_complete)'
