# Completion of claude-swarm for fish: put it into
# ~/.config/fish/completions/claude-swarm.fish

function __claude_swarm_complete
    set -l words (commandline -opc)
    set -l last (commandline -ct)
    set -l lines ($words[1] __complete -- $words[2..-1] "$last" 2>/dev/null)
    if test "$lines[1]" = ":files"
        __fish_complete_path "$last"
    else
        printf '%s\n' $lines
    end
end
complete -c claude-swarm -f -a '(__claude_swarm_complete)'
