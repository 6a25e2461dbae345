# SPDX-License-Identifier: Apache-2.0
# fish completion for fsquota(8). The tool itself describes its commands, options and operands:
# "fsquota help --machine [COMMAND]" prints LETTER NAME KIND ARGUMENT CHOICES HELP, separated by tabs.

# The lines that describe the command of the command line.
function __fsquota_description
    set -l words (commandline -opc)
    test "$words[2]" = --root; and set -e words[2..3]
    test (count $words) -gt 1; and fsquota help --machine $words[2] 2>/dev/null
end

# Options by letter and by name, with what they do.
function __fsquota_options
    for line in (__fsquota_description)
        set -l fields (string split \t -- $line)
        test "$fields[1]" = operand; and continue
        test "$fields[1]" != -; and printf '%s\t%s\n' $fields[1] $fields[6]
        test "$fields[2]" != -; and printf '%s\t%s\n' $fields[2] $fields[6]
    end
end

function __fsquota_projects
    string match -rg '^([^#:][^:]*):' </etc/projid 2>/dev/null
end

# Names of users, groups or projects, as the options select.
function __fsquota_names
    set -l words (commandline -opc)
    if string match -qr -- '^-[A-Za-z]*u' $words[3..]
        __fish_complete_users
    else if string match -qr -- '^-[A-Za-z]*g' $words[3..]
        __fish_complete_groups
    else
        __fsquota_projects
    end
end

# A list of columns, with one more.
function __fsquota_columns
    set -l chosen (string match -rg '^(.*,|\+)' -- $argv[1])
    set -l words (commandline -opc)
    fsquota $words[2] --list-columns 2>/dev/null | string replace -r '^(\S+) +(.*)' "$chosen\$1\t\$2"
end

# __fsquota_values KIND CHOICES VALUE
function __fsquota_values
    switch $argv[1]
        case choice
            string split ' ' -- $argv[2]
        case columns
            __fsquota_columns $argv[3]
        case name
            __fsquota_names
        case project
            __fsquota_projects
        case limit
            printf '%s\n' bsoft= bhard= isoft= ihard= rtbsoft= rtbhard=
        case directory
            __fish_complete_directories $argv[3] ''
        case file path
            __fish_complete_path $argv[3]
    end
end

# The value of the option before the cursor, or what an operand may be.
function __fsquota_arguments
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l kinds
    for line in (__fsquota_description)
        set -l fields (string split \t -- $line)
        if test "$fields[1]" = operand
            set -a kinds $fields[3]
        else if test "$fields[3]" = none
            continue
        else if contains -- $words[-1] $fields[1..2]
            __fsquota_values $fields[3] $fields[5] $current
            return
        else if string match -q -- "$fields[2]=*" $current
            __fsquota_values $fields[3] $fields[5] (string replace -- $fields[2]= '' $current) |
                string replace -r '^' -- $fields[2]=
            return
        end
    end
    for kind in $kinds
        __fsquota_values $kind '' $current
    end
end

complete -c fsquota -f
complete -c fsquota -n __fish_use_subcommand -a '(fsquota help --machine 2>/dev/null)'
complete -c fsquota -n __fish_use_subcommand -a help -d 'explain a command'
complete -c fsquota -n __fish_use_subcommand -l help -s h -d 'list the commands'
complete -c fsquota -n __fish_use_subcommand -l root -x -a '(__fish_complete_directories (commandline -ct) "")' \
    -d 'enter this directory first'
complete -c fsquota -n __fish_use_subcommand -l version -s V -d 'print the version'
complete -c fsquota -n '__fish_seen_subcommand_from help' -a '(fsquota help --machine 2>/dev/null)'
complete -c fsquota -n 'not __fish_use_subcommand; and string match -q -- "-*" (commandline -ct)' \
    -a '(__fsquota_options)'
complete -c fsquota -n 'not __fish_use_subcommand' -a '(__fsquota_arguments)'
