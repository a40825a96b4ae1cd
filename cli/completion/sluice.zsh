#compdef sluice kubectl-sluice
# Completion of sluice for zsh. Made by: sluice completion zsh
# What may follow is asked of sluice itself; the last line of its answer is ":" and what is to be done
# (2: no space behind it, 4: no files).

_sluice() {
  local program=${words[1]/#\~/$HOME} line todo=4
  local -a found options
  while IFS= read -r line; do
    case $line in
    :*) todo=${line#:} ;;
    *) found+=("${line/$'\t'/:}") ;;
    esac
  done < <("$program" __complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)
  ((todo & 2)) && options=(-S '')
  if ((${#found})); then
    _describe -V sluice found "${options[@]}"
  elif ! ((todo & 4)); then
    [[ $PREFIX == --*=* ]] && compset -P '*='
    _files
  fi
}

# Sourced, or found by compinit in a folder of fpath as _sluice.
if [ "${funcstack[1]}" = _sluice ]; then
  _sluice "$@"
else
  compdef _sluice sluice kubectl-sluice
fi
