#!/usr/bin/env bash
# The script of `sluice completion` in its shell: completion_shells.bash SLUICE bash|zsh|fish
# What sluice offers is completion_test.c's; here it is that the shell hands over the words and shows
# the answer. Exit code 77, which ctest counts as skipped, where the machine does not have the shell.
set -euo pipefail
sluice=$(realpath "$1")
shell=$2
command -v "$shell" >/dev/null || { echo "there is no $shell here; ./dev test installs it where it may"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
ln -s "$sluice" sluice
ln -s "$sluice" kubectl_complete-sluice
touch manifest.yaml
export PATH=$work:$PATH HOME=$work KUBECONFIG=/nonexistent

# expect SHELL LINE WANTED: lines of candidates, joined by spaces.
expect() {
  local got
  got=$("complete_in_$1" "$2" | tr '\n' ' ')
  [ "$got" = "${3:+$3 }" ] || { echo "$1: \"$2\" gives \"$got\", not \"$3\""; exit 1; }
}

# Bash splits words at "=" and ":". The options that a function asks for are not in COMPREPLY: files are not seen.
complete_in_bash() {
  bash --norc -c 'source <(sluice completion bash)
    complete -p sluice kubectl-sluice | grep -c " -F __sluice_complete" | grep -qx 2 || echo "nothing is registered"
    COMP_LINE=$1 line=${1//=/ = }
    read -ra COMP_WORDS <<<"${line//:/ : }"
    [[ $1 != *" " ]] || COMP_WORDS+=("")
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    __sluice_complete
    ((!${#COMPREPLY[@]})) || printf "%s\n" "${COMPREPLY[@]}"' - "$1"
}

# Its own functions need a line editor; they are stood for.
complete_in_zsh() {
  zsh -f -c 'compdef() { (( $# == 3 )) || print wrong }
    compset() { }
    _describe() { print -rl -- "${(@)found%%:*}" }
    _files() { print -rl -- $words[CURRENT]* }
    source <(sluice completion zsh)
    words=("${(@s: :)1}")
    CURRENT=$#words
    PREFIX=$words[CURRENT]
    _sluice' - "$1"
}

complete_in_fish() {
  fish --no-config -c 'sluice completion fish | source; complete -C "$argv[1]"' "$1" | cut -f1
}

expect $shell 'sluice jo' jobs
expect $shell 'sluice hold --bec' --because
expect $shell 'sluice jobs -o w' wide
expect $shell 'sluice jobs --state Waiting,Ru' Waiting,Running
expect $shell 'sluice cost --by la' label=
expect $shell 'sluice hist' history
expect $shell 'sluice calendar show ' ''
expect $shell '~/sluice cal' calendar
expect $shell 'sluice calendar --context arn:aws:eks:eu:123:cluster/foo-bar sh' show
[ $shell = bash ] && expect bash 'sluice jobs --output=w' wide || expect $shell 'sluice jobs --output=w' --output=wide
[ $shell = bash ] || expect $shell 'sluice simulate -f man' manifest.yaml
echo "$shell: completes"

# kubectl's way, which is the same answer under another name.
[ "$(kubectl_complete-sluice jo)" = "$(sluice __complete jo)" ] || { echo "kubectl_complete-sluice answers something else"; exit 1; }
