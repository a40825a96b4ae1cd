# Completion of sluice for bash. Made by: sluice completion bash
# What may follow is asked of sluice itself; the last line of its answer is ":" and what is to be done
# (2: no space behind it, 4: no files).

# Where ":" breaks words, bash hands over "arn : aws" for arn:aws. Sets `words` as they were typed.
__sluice_words() {
  local line=$COMP_LINE glued='' word blank i
  words=()
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    blank=${line%%[![:blank:]]*}
    line=${line#"$blank"}
    line=${line#"$word"}
    if ((i > 1)) && [[ -z $blank && ($word == :* || -n $glued) ]]; then
      words[${#words[@]} - 1]+=$word
    else
      words+=("$word")
    fi
    [[ $word == *: ]] && glued=1 || glued=''
  done
}

__sluice_complete() {
  local program=${COMP_WORDS[0]/#\~/$HOME} line then=4 words last broken=''
  COMPREPLY=()
  __sluice_words
  last=${words[${#words[@]} - 1]}
  # What stands before the last ":" is a word of its own to bash, and stays.
  [[ $COMP_WORDBREAKS == *:* && $last == *:* ]] && broken=${last%"${last##*:}"}
  while IFS= read -r line; do
    case $line in
    :*) then=${line#:} ;;
    *)
      line=${line%%$'\t'*}
      COMPREPLY+=("${line#"$broken"}")
      ;;
    esac
  done < <("$program" __complete "${words[@]:1}" 2>/dev/null)
  ((then & 2)) && compopt -o nospace 2>/dev/null
  ((then & 4)) || compopt -o default 2>/dev/null
  return 0
}

complete -F __sluice_complete sluice kubectl-sluice
