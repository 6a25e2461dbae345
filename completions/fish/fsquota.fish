# SPDX-License-Identifier: Apache-2.0
# fish completion for fsquota(8); commands and their options are asked of the tool itself

function __fsquota_commands
    fsquota --help 2>/dev/null | string match -rg '^  ([a-z]{2,} .*)' | string replace -r ' +' \t
end

# The words of the command line, without the program.
function __fsquota_command
    set -l words (commandline -opc)
    test (count $words) -gt 1; and echo $words[2]
end

# One option a letter in "Usage: fsquota COMMAND [-bir] [-g|-p|-u] ..."
function __fsquota_options
    set -l command (__fsquota_command)
    set -l usage (fsquota help $command 2>/dev/null | head -n 1)
    for letters in (string match -arg -- '-([A-Za-z]+)' $usage)
        string replace -r '^' - (string split '' $letters)
    end
    echo --help
    contains -- $command id lsattr; and return
    printf '%s\n' --json\t'print JSON' --at=\t'the filesystem' \
        --projects-file=\t'instead of /etc/projects' --projid-file=\t'instead of /etc/projid'
end

function __fsquota_names
    set -l words (commandline -opc)
    if test "$words[2]" = project; or string match -qr -- '^-[A-Za-z]*p' $words[3..]
        string match -rg '^([^#:][^:]*):' </etc/projid 2>/dev/null
    else if string match -qr -- '^-[A-Za-z]*g' $words[3..]
        __fish_complete_groups
    else
        __fish_complete_users
    end
end

set -l named limit project quota timer warn
# These have no operands but paths.
set -l others df disable dump enable id lsattr off path print quot remove report restore state

complete -c fsquota -n __fish_use_subcommand -f -a '(__fsquota_commands)'
complete -c fsquota -n __fish_use_subcommand -f -a help -d 'explain a command'
complete -c fsquota -n __fish_use_subcommand -l help -s h -d 'list the commands'
complete -c fsquota -n __fish_use_subcommand -l version -s V -d 'print the version'
complete -c fsquota -n '__fish_seen_subcommand_from help' -f -a '(__fsquota_commands)'
complete -c fsquota -n "__fish_seen_subcommand_from $named $others; and string match -q -- '-*' (commandline -ct)" \
    -a '(__fsquota_options)'
complete -c fsquota -n "__fish_seen_subcommand_from $named" -a '(__fsquota_names)'
complete -c fsquota -n '__fish_seen_subcommand_from limit' -f \
    -a 'bsoft= bhard= isoft= ihard= rtbsoft= rtbhard='
complete -c fsquota -n '__fish_seen_subcommand_from '(string join ' ' $named $others) -F
