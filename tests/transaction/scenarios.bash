# shellcheck shell=bash
# shellcheck disable=SC2034 # for and from inject
# SPDX-License-Identifier: Apache-2.0
#
# What is done while something goes wrong. Each scenario builds what there is before below $top, an
# empty mount point, and sets
#
#   assigned         the arguments of fsquota that assign the directory: after a failure they must work
#   tried            those that are tried, if others
#   projects, projid the files afterwards
#   tags             what is in the directory afterwards: ID and inheritance, if not 1048577 P
#   parts            not empty: all or nothing is each of several directories, and the next call does the others
#   row              the line of the project's limits and use afterwards, if not this; empty: there is none
tags='1048577 P' row='hard 10240 0'

foreign_lines() {
	printf '# directories\n7:/elsewhere\n\n#8:/not this\nno line of ours\n9:/else where%s' "$1" >/etc/projects
	printf '# names\nother:7\n\nmiddle:8:more\nninth:9%s' "$1" >/etc/projid
	# To be kept.
	chown 7:8 /etc/projects /etc/projid
	chmod 640 /etc/projects
	chmod 604 /etc/projid
}

# The files as foreign_lines leaves them, and what comes behind.
expect_files() {
	projects=$'# directories\n7:/elsewhere\n\n#8:/not this\nno line of ours\n9:/else where'$1
	projid=$'# names\nother:7\n\nmiddle:8:more\nninth:9'$2
}

fsquota() { "$FSQUOTA" "$@" >/dev/null; }

# An empty directory; files of others, that do not end in a newline.
scenario_a() {
	mkdir "$top/dir"
	foreign_lines ''
	assigned=(assign --hard 10M "$top/dir")
	expect_files $'\n1048577:'"$top"'/dir' $'\nvolume1048577:1048577'
}

# A directory that is made, with owner and mode.
scenario_k() {
	foreign_lines $'\n'
	assigned=(assign --mkdir --owner 7:8 --mode 2751 --hard 10M "$top/dir")
	expect_files $'\n1048577:'"$top"$'/dir\n' $'\nvolume1048577:1048577\n'
}

# A tree; no files.
scenario_b() {
	make_tree "$top/dir"
	assigned=(assign --hard 10M --soft-inodes 1000 "$top/dir")
	projects="1048577:$top/dir"$'\n'
	projid=$'volume1048577:1048577\n'
	row='soft 0 1000, hard 10240 0'
}

# One more directory of a project, whose limits change.
scenario_c() {
	make_tree "$top/first"
	make_tree "$top/dir"
	foreign_lines $'\n'
	fsquota assign --hard 10M --name shared "$top/first"
	assigned=(assign --hard 20M --name shared "$top/dir")
	expect_files $'\n1048577:'"$top"$'/first\n1048577:'"$top"$'/dir\n' $'\nshared:1048577\n'
	row='hard 20480 0'
}

# The same directory again, with other limits.
scenario_d() {
	make_tree "$top/dir"
	foreign_lines ''
	fsquota assign --hard 10M --name mine "$top/dir"
	assigned=(assign --hard 20M --soft 5M "$top/dir")
	expect_files $'\n1048577:'"$top"'/dir' $'\nmine:1048577'
	row='soft 5120 0, hard 20480 0'
}

# The lines stand in the middle: the files are replaced.
scenario_e() {
	scenario_f
	printf '10:/behind' >>/etc/projects
	printf 'behind:10' >>/etc/projid
	expect_files $'\n10:/behind' $'\nbehind:10'
}

# The lines stand at the end: the files are cut.
scenario_f() {
	make_tree "$top/dir"
	foreign_lines $'\n'
	fsquota assign --hard 10M "$top/dir"
	assigned=(assign --hard 10M "$top/dir")
	tried=(release "$top/dir")
	expect_files $'\n' $'\n'
	tags='0 -' row=''
}

# One of the two directories of a project.
scenario_g() {
	make_tree "$top/first"
	make_tree "$top/dir"
	foreign_lines ''
	fsquota assign --hard 10M --name shared "$top/dir"
	fsquota assign --name shared "$top/first"
	assigned=(assign --hard 10M --name shared "$top/dir")
	tried=(release "$top/dir")
	expect_files $'\n1048577:'"$top"'/first' $'\nshared:1048577'
	tags='0 -'
}

# Renamed, and so are directories in it that share its project.
scenario_h() {
	make_tree "$top/old"
	foreign_lines $'\n'
	fsquota assign --hard 10M --name mine "$top/old"
	echo "1048577:$top/old/sub" >>/etc/projects
	printf '10:/behind' >>/etc/projects
	mv "$top/old" "$top/dir"
	assigned=(move "$top/old" "$top/dir")
	expect_files $'\n10:/behind\n1048577:'"$top"$'/dir\n1048577:'"$top/dir/sub" $'\nmine:1048577\n'
}

# prune of two directories that are gone, one with an ID and a name of its own; a third is there.
scenario_j() {
	make_tree "$top/dir"
	mkdir "$top/gone" "$top/other"
	foreign_lines $'\n'
	fsquota assign --hard 10M "$top/dir"
	fsquota assign --hard 5M --soft-inodes 7 "$top/gone"
	fsquota assign --hard 5M --name own --id 42 "$top/other"
	rmdir "$top/gone" "$top/other"
	assigned=(prune --quiet "$top") tried=(prune --quiet "$top")
	expect_files $'\n1048577:'"$top"$'/dir\n' $'\nvolume1048577:1048577\n'
	parts=yes
}

# apply --prune: one directory is released, another gets other limits, and what was assigned by hand stays.
scenario_i() {
	make_tree "$top/dir"
	make_tree "$top/kept"
	mkdir "$top/hand" /etc/fsquota.d
	foreign_lines $'\n'
	printf '%s hard=5M\n' "$top/kept" "$top/dir" >/etc/fsquota.d/node.conf
	fsquota apply
	fsquota assign --hard 1M "$top/hand"
	echo "$top/kept hard=10M" >/etc/fsquota.d/node.conf
	assigned=(apply --prune) tried=(apply --prune)
	expect_files $'\n1048577:'"$top"$'/kept\n1048579:'"$top/hand"$'\n' $'\nvolume1048577:1048577\nvolume1048579:1048579\n'
	tags='0 -'
	parts=yes
	row='hard 1024 0'
}
