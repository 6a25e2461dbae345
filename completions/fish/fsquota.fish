# SPDX-License-Identifier: Apache-2.0
# fish completion for fsquota(8); the commands are asked of the tool itself

function __fsquota_commands
    fsquota --help 2>/dev/null | string match -rg '^  ([a-z]{2,} .*)' | string replace -r ' +' \t
end

complete -c fsquota -n __fish_use_subcommand -f -a '(__fsquota_commands)'
complete -c fsquota -n __fish_use_subcommand -f -a help -d 'explain a command'
complete -c fsquota -n __fish_use_subcommand -l help -s h -d 'list the commands'
complete -c fsquota -n __fish_use_subcommand -l version -s V -d 'print the version'
complete -c fsquota -n '__fish_seen_subcommand_from help' -f -a '(__fsquota_commands)'
complete -c fsquota -n '__fish_seen_subcommand_from id lsattr' -s h -l help -d 'show a summary'
complete -c fsquota -n '__fish_seen_subcommand_from lsattr' -s p -d 'with the project ID'
complete -c fsquota -n '__fish_seen_subcommand_from lsattr' -s a -d 'also names that begin with a dot'
complete -c fsquota -n '__fish_seen_subcommand_from lsattr' -s d -d 'directories themselves'
complete -c fsquota -n '__fish_seen_subcommand_from lsattr' -s R -d 'all that is below'
