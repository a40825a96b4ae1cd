# Completion of sluice for bash. Made by: sluice completion bash
# What may follow is asked of sluice itself; the last line of its answer is ":" and what is to be done
# (2: no space behind it, 4: no files).

__sluice_complete() {
  local program=${COMP_WORDS[0]/#\~/$HOME} line then=4
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
    :*) then=${line#:} ;;
    *) COMPREPLY+=("${line%%$'\t'*}") ;;
    esac
  done < <("$program" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  ((then & 2)) && compopt -o nospace 2>/dev/null
  ((then & 4)) || compopt -o default 2>/dev/null
  return 0
}

complete -F __sluice_complete sluice kubectl-sluice
