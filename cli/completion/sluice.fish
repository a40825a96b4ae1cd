# Completion of sluice for fish. Made by: sluice completion fish
# What may follow is asked of sluice itself; the last line of its answer is ":" and what is to be done
# (4: no files).

function __sluice_complete
    set -l words (commandline -opc)
    set -l begun (commandline -ct)
    set -l program (string replace -r '^~/' "$HOME/" -- $words[1])
    set -l found
    set -l todo 4
    for line in ($program __complete $words[2..-1] "$begun" 2>/dev/null)
        if string match -q ':*' -- $line
            set todo (string sub -s 2 -- $line)
        else
            set -a found $line
        end
    end
    if test (count $found) -gt 0
        printf '%s\n' $found
    else if test $todo -lt 4
        set -l lead (string match -r '^--[^=]*=' -- $begun)
        for path in (__fish_complete_path (string replace -r '^--[^=]*=' '' -- "$begun"))
            printf '%s\n' "$lead$path"
        end
    end
end

complete -c sluice -f -a '(__sluice_complete)'
complete -c kubectl-sluice -f -a '(__sluice_complete)'
