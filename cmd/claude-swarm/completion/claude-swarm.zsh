#compdef claude-swarm
# Completion of claude-swarm for zsh: put it into a folder of $fpath as
# _claude-swarm, or use it with
#   source <(claude-swarm completion zsh)

_claude-swarm() {
  local line word about
  local -a items
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      compset -P '--*='
      _files
      return
    fi
    word=${line%%$'\t'*} about=${line#*$'\t'}
    items+=("${word//:/\\:}${about:+:$about}")
  done < <("${words[1]}" __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)
  _describe -V 'claude-swarm' items
}

if [[ ${funcstack[1]} == _claude-swarm ]]; then
  _claude-swarm "$@"
else
  compdef _claude-swarm claude-swarm
fi
