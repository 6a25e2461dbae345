#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=install
#
# The modules for other languages have what the header and the schema have. No quota is needed here.

bats_require_minimum_version 1.5.0

load ../lib/fsquota
: "${srcdir:?}" "${builddir:?}"
export PYTHONPATH=$srcdir/contrib/python PYTHONDONTWRITEBYTECODE=1 LD_LIBRARY_PATH=$builddir/src/quota/.libs

@test "Python: each struct and number is as in the header, and one that has changed is found" {
	local header=$BATS_TEST_TMPDIR/fsquota.h
	run -0 /usr/bin/python3 "$srcdir/tests/library/layouts.py" "$srcdir/src/quota/fsquota.h"
	assert_output --regexp '^[0-9]+ are so$'
	sed 's/^\tbool keep_tags;/\tuint64_t more;\n&/; s/-5006,/-5016,/' "$srcdir/src/quota/fsquota.h" >"$header"
	run -0 /usr/bin/python3 "$srcdir/tests/library/layouts.py" "$header"
	assert_line 'FSQ_E_CONFLICT is -5016, not -5006'
	assert_line --partial 'offsetof(struct fsq_release_request, keep_tags) is '
}

@test "Python: the types are complete, also for who uses the module, and pip installs it without network" {
	cd "$BATS_TEST_TMPDIR"
	cp -r "$srcdir/contrib/python" source && chmod -R u+w source
	run -0 /usr/bin/python3 -m pip install -q --no-build-isolation --no-index --target installed ./source
	rm -r source
	run -0 ls installed/fsquota
	assert_line py.typed
	printf '%s\n' 'import fsquota' 'reveal_type(fsquota.usage("/").limits.hard_bytes)' \
		'for event in fsquota.watch("/"):' '    reveal_type(event.id)' 'fsquota.assign("/", hard=1.5)' >user.py
	PYTHONPATH='' MYPYPATH=installed run -1 /usr/bin/mypy --strict --cache-dir cache user.py
	assert_output "$(printf '%s\n' 'user.py:2: note: Revealed type is "Union[builtins.int, None]"' \
		'user.py:4: note: Revealed type is "builtins.int"' \
		'user.py:5: error: Argument "hard" to "assign" has incompatible type "float"; expected "Union[int, str, None]"  [arg-type]' \
		'Found 1 error in 1 file (checked 1 source file)')"
	MYPYPATH=$srcdir/contrib/python PYTHONPATH='' run -0 /usr/bin/mypy --strict --cache-dir cache "$srcdir/contrib/provisioner/provisioner.py"
}

# The cache of the compiler is gone with the test.
go_in() { (cd "$1" && GOCACHE=$BATS_TEST_TMPDIR/cache GOPATH=$BATS_TEST_TMPDIR/path GOPROXY=off ticking go "${@:2}"); }

@test "Go: the types are those of fsquota schema, and go vet and go test -race find nothing" {
	local module=$srcdir/contrib/clients/go
	diff <("$FSQUOTA" schema | "$module/types.py" | gofmt) "$module/types.go" || fail "run tools/record types"
	prints '' gofmt -l "$module" "$srcdir/contrib/provisioner" "$srcdir/contrib/kubernetes"
	go_in "$module" vet ./...
	go_in "$srcdir/contrib/provisioner" vet provisioner.go
	go_in "$srcdir/contrib/kubernetes/caps" vet .
	go_in "$srcdir/contrib/kubernetes/caps" test -count=1 .
	go_in "$module" test -race -count=1 -timeout 110s .
}
