#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=install
# needs: buildah
#
# The image of contrib/container, built without a registry of the static binary ($FSQUOTA), and run on a real XFS with
# /etc of the node. It runs with a root directory, a mount table and capabilities of its own; buildah needs no
# other kernel for that (chroot isolation).

# shellcheck disable=SC2154 # run_split sets stdout and stderr
load ../lib/fsquota
load kernel

# b WORD...: buildah, with all that it keeps in a directory of these tests.
b() {
	local storage=$BATS_FILE_TMPDIR/storage
	buildah --root "$storage/root" --runroot "$storage/run" --storage-driver vfs "$@"
}

setup_file() {
	local context=$BATS_FILE_TMPDIR/context
	fresh_fs x
	mkdir "$context"
	cp "$FSQUOTA" "$context/fsquota"
	b build --quiet --isolation chroot --tag fsquota --file "$srcdir/contrib/container/Containerfile" "$context" \
		>"$BATS_FILE_TMPDIR/log" 2>&1 || { cat "$BATS_FILE_TMPDIR/log" >&3 && return 1; }
	b from --quiet --name one localhost/fsquota >"$BATS_FILE_TMPDIR/log" 2>&1 || { cat "$BATS_FILE_TMPDIR/log" >&3 && return 1; }
}

setup() {
	rm -f /etc/projects /etc/projid
}

# contained WORD...: the image's program in a container, as Containerfile says. confined: without the capability.
# What buildah hands on of the output can be lost on a busy machine, with the right status: so a shell of the node has it
# written to files.
confined() {
	local out=$BATS_TEST_TMPDIR/out volume volumes=()
	mkdir -p "$out"
	for volume in /mnt/x:/mnt/x /etc:/node/etc "$out:/out" /usr:/usr /usr/lib:/lib /usr/lib64:/lib64; do
		volumes+=(--volume "$volume")
	done
	run_split b run --isolation chroot "${capability[@]}" "${volumes[@]}" one -- \
		/usr/bin/dash -c 'exec "$@" >/out/stdout 2>/out/stderr' dash \
		/fsquota --projects-file /node/etc/projects --projid-file /node/etc/projid "$@"
	stdout=$(<"$out/stdout") stderr=$(<"$out/stderr")
}
contained() {
	local capability=(--cap-add CAP_SYS_ADMIN)
	confined "$@"
}

@test "the image has the binary, what it starts, and nothing else" {
	local top
	run -0 b inspect --type image --format '{{.OCIv1.Config.Entrypoint}} {{len .OCIv1.RootFS.DiffIDs}}' localhost/fsquota
	assert_output '[/fsquota] 1'
	run -0 b inspect --type image --format '{{index .OCIv1.Config.Labels "org.opencontainers.image.licenses"}}' localhost/fsquota
	assert_output Apache-2.0
	top=$(b mount one)
	prints 'fsquota f 755' find "$top" -mindepth 1 -printf '%P %y %m\n'
	cmp "$top/fsquota" "$FSQUOTA"
}

@test "in a container it assigns, shows and releases a quota of the node" {
	local id
	mkdir /mnt/x/volume
	contained assign /mnt/x/volume --hard 8M
	assert_equal "$status:$stderr" 0:
	id=$stdout
	is_tagged /mnt/x/volume "$id"
	holds p "$id" 0 0 8192
	prints "$id:/mnt/x/volume" cat /etc/projects
	fill /mnt/x/volume/file 16
	contained usage --json /mnt/x/volume
	assert_equal "$status:$stderr" 0:
	assert_equal "$(jq -c '.usage[0] | [.id, .used_bytes, .hard_bytes, .source]' <<<"$stdout")" \
		"[$id,1048576,8388608,\"quota\"]"
	contained release /mnt/x/volume
	assert_equal "$status:$stderr" 0:
	holds p "$id" 0 0 0
	prints '' cat /etc/projects /etc/projid
}

@test "in a container without CAP_SYS_ADMIN it says so, and changes nothing" {
	local capability=()
	mkdir /mnt/x/confined
	confined assign /mnt/x/confined --hard 8M
	assert_equal "$status:$stdout" 4:
	[[ ${stderr%%$'\n'*} == "fsquota assign: /mnt/x/confined: "* ]] || fail "$stderr"
	is_untagged /mnt/x/confined
	prints '' cat /etc/projects
}
