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
    echo --json\t'print JSON'
    contains -- $command id lsattr; and return
    printf '%s\n' --at=\t'the filesystem' \
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

# A list of columns, with one more.
function __fsquota_columns
    set -l list (commandline -ct | string replace -r '^(--output=|-o)' '')
    set -l chosen (string match -rg '^(.*,|\+)' -- $list)
    fsquota usage --list-columns 2>/dev/null | string replace -r '^(\S+) +(.*)' "$chosen\$1\t\$2"
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

# These have words as options, and directories as operands.
set -l directories assign list release resize supported usage
set -l in __fish_seen_subcommand_from
complete -c fsquota -n "$in $directories" -l json -d 'print JSON'
complete -c fsquota -n "$in $directories" -s h -l help -d 'show a summary'
complete -c fsquota -n "$in assign release resize supported usage" -f -a '(__fish_complete_directories)'
complete -c fsquota -n "$in list" -F

complete -c fsquota -n "$in assign" -l hard -x -d 'at most so much space'
complete -c fsquota -n "$in assign" -l soft -x -d 'more than this only for the grace time'
complete -c fsquota -n "$in assign" -l hard-inodes -x -d 'at most so many files and directories'
complete -c fsquota -n "$in assign" -l soft-inodes -x -d 'more than this only for the grace time'
complete -c fsquota -n "$in assign" -l unlimited -d 'only count'
complete -c fsquota -n "$in assign" -l name -x -d 'join the project of that name, or make it' \
    -a '(string match -rg "^([^#:][^:]*):" </etc/projid 2>/dev/null)'
complete -c fsquota -n "$in assign" -l id -x -d 'insist on this ID'
complete -c fsquota -n "$in release resize" -l id -x -d 'insist that this ID is its own'
complete -c fsquota -n "$in assign" -l id-range -x -d 'choose from these IDs'
complete -c fsquota -n "$in assign" -l require-enforced -d 'fail where the limits would stop nobody'
complete -c fsquota -n "$in assign" -l dry-run -d 'only say which ID it would be'
complete -c fsquota -n "$in assign release" -l lock-timeout -x -d 'wait at most so many seconds for the locks'
complete -c fsquota -n "$in assign release" -l no-register -d 'do not write to the files'
complete -c fsquota -n "$in assign list release resize usage" -l projects-file -r -F -d 'instead of /etc/projects'
complete -c fsquota -n "$in assign list release resize usage" -l projid-file -r -F -d 'instead of /etc/projid'
complete -c fsquota -n "$in release" -l keep-tags -d 'leave the ID on the files'
complete -c fsquota -n "$in release" -l dry-run -d 'only say whether there is a quota'
complete -c fsquota -n "$in assign release usage project" -l progress -x -a 'auto never always' -d 'how far it is'
complete -c fsquota -n "$in project" -l max-errors -x -d 'give up after so many that fail'
complete -c fsquota -n "$in resize" -l allow-shrink -d 'let it become smaller than it is'
complete -c fsquota -n "$in resize" -l dry-run -d 'only say whether it could be done'
complete -c fsquota -n "$in supported" -s q -l quiet -d 'print nothing'
complete -c fsquota -n "$in usage" -l fallback -x -a 'walk none' -d 'where no quota applies'
complete -c fsquota -n "$in list" -l sort -x -a 'id use percent' -d 'the order'
complete -c fsquota -n "$in list usage" -s o -l output -x -a '(__fsquota_columns)' -d 'show these columns'
complete -c fsquota -n "$in list usage" -l output-all -d 'show all columns'
complete -c fsquota -n "$in list usage" -l list-columns -d 'say which columns there are'
complete -c fsquota -n "$in list usage" -s b -l bytes -d 'sizes in bytes'
complete -c fsquota -n "$in list usage" -s n -l noheadings -d 'no line of headings'
complete -c fsquota -n "$in list usage" -s r -l raw -d 'columns separated by a blank'
complete -c fsquota -n "$in list usage" -s P -l pairs -d 'NAME="VALUE" pairs'
