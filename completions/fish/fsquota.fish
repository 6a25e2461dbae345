# SPDX-License-Identifier: Apache-2.0
# fish completion for fsquota(8). The tool itself describes its commands, options and operands:
# "fsquota help --machine [COMMAND]" prints LETTER NAME KIND ARGUMENT CHOICES HELP, separated by tabs.

# The words before the cursor, the command in front of the options that stand before it, as the tool has them. Where
# there is none, it is "help", whose description has these options and the names of commands.
function __fsquota_words
    if __fsquota_is_xfs_quota
        # Of the command in the quotes of -c.
        string match -rg '^[\'"]?(.*)\s' -- (commandline -ct) | string split -n ' '
        return
    end
    set -l words (commandline -opc)[2..]
    set -l options
    set -l description (fsquota help --machine help 2>/dev/null)
    while string match -q -- '--*' $words[1]
        set -l name (string replace -r '=.*' '' -- $words[1])
        set -l line (string match -- "-"\t$name\t'*' $description)
        test -n "$line"; or break
        set -a options $words[1]
        set -e words[1]
        if not string match -q -- '*=*' $options[-1]; and not string match -q -- \*\tnone\t\* $line
            set -a options $words[1]
            set -e words[1]
        end
    end
    set -q words[1]; or set words help
    printf '%s\n' $words[1] $options $words[2..]
end

# __fsquota_registered name|id|path: those of the projects in both files, with what else is known of the project. Not
# those that begin with ~, which fish would expand.
function __fsquota_registered
    set -l words (__fsquota_words)
    set -l root
    set -l projid /etc/projid
    set -l projects /etc/projects
    for i in (seq 2 (count $words))
        set -l option (string split -m 1 = -- $words[$i])
        set -q option[2]; or set -a option $words[(math $i + 1)]
        switch $option[1]
            case --root
                set root $option[2]
            case --projid-file
                set projid $option[2]
            case --projects-file
                set projects $option[2]
        end
    end
    begin
        test -r "$root$projid"; and sed 's/^/name:/' <"$root$projid"
        echo
        test -r "$root$projects"; and sed 's/^/path:/' <"$root$projects"
    end 2>/dev/null | LC_ALL=C awk -F : -v want=$argv[1] '
        /[[:cntrl:]]/ || $2 ~ /^#/ { next }
        $1 == "name" { id = $3; value = $2 }
        $1 == "path" { id = $2; value = substr($0, length($1 $2) + 3) }
        NF < 3 || id !~ /^[0-9]+$/ || value == "" { next }
        !(($1, id) in of) { of[$1, id] = value }
        { kinds[++count] = $1; ids[count] = id; values[count] = value }
        END {
            other = want == "name" ? "path" : "name"
            for (i = 1; i <= count; i++) {
                id = ids[i]
                value = values[i]
                if (kinds[i] == want && value !~ /^~/)
                    print value "\t" of[other, id]
                else if (want == "id" && !(id in seen)) {
                    text = of["name", id] " " of["path", id]
                    gsub(/^ | $/, "", text)
                    print id "\t" text
                }
                seen[id]
            }
        }'
end

# Names of users, groups or projects, as the options select.
function __fsquota_names
    set -l words (__fsquota_words)
    if string match -qr -- '^-[A-Za-z]*u' $words[2..]
        __fish_complete_users
    else if string match -qr -- '^-[A-Za-z]*g' $words[2..]
        __fish_complete_groups
    else
        __fsquota_registered name
    end
end

# A list of columns, with one more, in the case of the list.
function __fsquota_columns
    set -l chosen (string match -r -- '^(?:.*,)?[-+]?' $argv[1])
    for line in (fsquota (__fsquota_words)[1] --list-columns 2>/dev/null)
        set -l column (string split -m 1 ' ' -- $line)
        string match -qr '[a-z]' -- $argv[1]; and set column[1] (string lower -- $column[1])
        printf '%s%s\t%s\n' "$chosen" $column[1] (string trim -- $column[2])
    end
end

# __fsquota_values KIND CHOICES VALUE
function __fsquota_values
    switch $argv[1]
        case choice
            string split ' ' -- $argv[2]
        case command
            fsquota help --machine 2>/dev/null
            printf 'help\texplain a command\n'
        case columns
            __fsquota_columns "$argv[3]"
        case name
            __fsquota_names
        case project
            __fsquota_registered name
        case id
            __fsquota_registered id
        case limit
            printf '%s\n' bsoft= bhard= isoft= ihard= rtbsoft= rtbhard=
        case owner
            if set -l user (string match -r -- '^[^:]*:' $argv[3])
                for group in (__fish_complete_groups)
                    printf '%s%s\n' $user $group
                end
            else
                __fish_complete_users
            end
        case registered
            __fsquota_registered path
            __fish_complete_directories "$argv[3]" ''
        case directory
            __fish_complete_directories "$argv[3]" ''
        case file path
            __fish_complete_path "$argv[3]"
    end
end

# The value of the option before the cursor, an option by letter or name, or what an operand may be.
function __fsquota_complete
    set -l words (__fsquota_words)
    set -l current (commandline -ct)
    __fsquota_is_xfs_quota; and set current (string replace -r '.*\s' '' -- $current)
    set -l valued --root
    set -l options
    set -l kinds
    set -l repeated
    for line in (fsquota help --machine $words[1] 2>/dev/null)
        set -l fields (string split \t -- $line)
        if test "$fields[1]" = operand
            set -a repeated (test "$fields[2]" = ...; and echo yes)
            set -a kinds $fields[3]
            continue
        end
        for name in (string match -v -- - $fields[1..2])
            set -a options $name\t$fields[6]
        end
        test "$fields[3]" = none; and continue
        set -a valued $fields[1..2]
        if contains -- "$words[-1]" $fields[1..2]; and test "$words[-1]" != -
            __fsquota_values $fields[3] $fields[5] "$current"
            return
        else if string match -q -- "$fields[2]=*" $current
            for value in (__fsquota_values $fields[3] $fields[5] (string replace -- $fields[2]= '' $current))
                printf '%s=%s\n' $fields[2] $value
            end
            return
        end
    end
    if string match -q -- '-*' $current
        printf '%s\n' $options
        return
    end
    # Operands stand at their place, but for those that repeat and what is behind them.
    if not contains yes $repeated
        for i in (seq 2 (count $words))
            string match -q -- '-*' $words[$i]; or contains -- $words[(math $i - 1)] $valued; or set -e kinds[1]
        end
        set kinds $kinds[1]
    end
    for kind in $kinds
        __fsquota_values $kind '' "$current"
    end
end

# With a letter of xfs_quota's first, it is as xfs_quota.
function __fsquota_is_xfs_quota
    set -l words (commandline -opc)
    string match -q '*xfs_quota' $words[1]; or string match -qr -- '^-[cdDfPptx]' $words[2]
end

function __fsquota_is_first
    test (count (commandline -opc)) = 1
end

function __fsquota_xfs_quota
    if test (commandline -opc)[-1] = -c
        # A command, or its options by letter and its operands; only what needs no quotes of its own. Without the words,
        # which are about the native command.
        set -l typed (string replace -r '^[\'"]' '' -- (commandline -ct))
        set -l before (string match -r '.*\s' -- $typed)
        set -l found (fsquota -x -c help 2>/dev/null | string replace -rf '^(\S+) .*-- (.*)' '$1\t$2')
        set -q before[1]; and set found $before(__fsquota_complete | string replace -r '\t.*' '' |
            string match -rv '^--|[^a-zA-Z0-9_.,:%+=/@-]')
        # The letters that have a name, too, are native ones, but -N of three commands.
        string match -qr '^(df|free|quota|report) ' -- $typed; and set found (string match -v -- '*-J' $found)
        or set found (string match -rv -- '-[JN]$' $found)
        set found (string match -- "$typed*" $found)
        printf '%s\n' $found
        # A second one keeps fish from closing the quotes.
        test "$typed" = (commandline -ct); or set -q found[2]; or string replace -r '\t.*|$' ' ' -- $found
    else if string match -q -- '-*' (commandline -ct)
        printf '%s\n' -x -f -c -t -D -P -d -p -V
    else
        __fish_complete_path (commandline -ct)
    end
end

complete -c fsquota -f
complete -c fsquota -k -n 'not __fsquota_is_xfs_quota' -a '(__fsquota_complete)'
complete -c fsquota -n __fsquota_is_xfs_quota -a '(__fsquota_xfs_quota)'
complete -c xfs_quota -f -a '(__fsquota_xfs_quota)'
complete -c fsquota -n __fsquota_is_first -l help -s h -d 'list the commands'
complete -c fsquota -n __fsquota_is_first -l version -s V -d 'print the version'
complete -c fsquota -n __fsquota_is_first -s x -d 'as xfs_quota, with expert commands'
complete -c fsquota -n __fsquota_is_first -s c -d 'as xfs_quota, this command'
