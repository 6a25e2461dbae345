#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=install
# needs: git golang-go mypy python3-pip
#
# The modules for other languages have what the header and the schema have. No quota is needed here.

bats_require_minimum_version 1.5.0

load ../lib/fsquota
: "${srcdir:?}" "${builddir:?}"
export PYTHONPATH=$srcdir/contrib/python PYTHONDONTWRITEBYTECODE=1 LD_LIBRARY_PATH=$builddir/src/quota/.libs

@test "Python: pip installs the module without network or build tools, and leaves nothing in the tree" {
	cd "$BATS_TEST_TMPDIR"
	cp -r "$srcdir/contrib/python" source && chmod -R u+w source
	run -0 find source
	local before=$output
	PYTHONPATH='' PYTHONDONTWRITEBYTECODE='' run -0 /usr/bin/python3 -m pip install -q --no-index --target installed ./source
	run -0 find source
	assert_equal "$(sort <<<"$output")" "$(sort <<<"$before")"
	chmod -R a-w source
	rm -rf installed
	PYTHONPATH='' run -0 /usr/bin/python3 -m pip install -q --no-index --target installed ./source
	chmod -R u+w source
	rm -r source
	PYTHONPATH=installed run -0 /usr/bin/python3 -c 'import fsquota, importlib.metadata as m
print(fsquota.__version__ == m.version("fsquota"), fsquota.__file__)'
	assert_output "True $PWD/installed/fsquota/__init__.py"
	# Every file with its sum.
	run -0 /usr/bin/python3 -m pip list --path installed
	assert_line --regexp "^fsquota +$("$FSQUOTA" --version | cut -d ' ' -f 2)\$"
}

@test "Python: a command that the module has not leads to what has it" {
	local name words
	while read -r name words; do
		run -1 /usr/bin/python3 -c "import fsquota; fsquota.$name"
		assert_line --partial "module 'fsquota' has no attribute '$name'$words"
	done <<-'END'
		list : projects() lists what there is
		check : the program has it, for subprocess.run(): fsquota check
		limit : assign(directory, hard) gives a directory a limit, resize() another one
		Error : FsquotaError is the base of all errors
		setup : the program has it, for subprocess.run(): fsquota setup
		nonsense : it has ConflictError, Event, FsquotaError
		Client : call assign(), usage() and the others, which share one process; fsquota batch --read-only only looks
		nothing
	END
	run -1 /usr/bin/python3 -c 'import fsquota; fsquota.Limits(1).size'
	assert_line --partial "'Limits' object has no attribute 'size': it has hard, soft, hard_inodes, soft_inodes"
	run -1 /usr/bin/python3 -c 'import fsquota; fsquota.usage(".", walk=True).limit'
	assert_line --partial "; its limits are limits.hard and so on"
	run -1 /usr/bin/python3 -c 'import fsquota; fsquota.assign("/", limit="1G")'
	assert_line "TypeError: assign() has no argument 'limit': it has directory, hard, soft, hard_inodes, soft_inodes, limits, name, id, id_range, mkdir, mode, owner, group, require_enforced, keep_limits, around, force, dry_run, registry; the hard limit is hard; for locks and files, registry=Registry(lock_seconds=5, register=False)"
}

@test "Python: the types are complete, also for who uses the module" {
	cd "$BATS_TEST_TMPDIR"
	cp -r "$srcdir/contrib/python" source && chmod -R u+w source
	run -0 /usr/bin/python3 -m pip install -q --no-index --target installed ./source
	assert [ -e installed/fsquota/py.typed ]
	printf '%s\n' 'import fsquota' 'reveal_type(fsquota.usage("/").limits.hard)' \
		'for event in fsquota.watch("/"):' '    reveal_type(event.id)' 'fsquota.assign("/", hard=1.5)' >user.py
	PYTHONPATH='' MYPYPATH=installed run -1 /usr/bin/mypy --strict --cache-dir cache user.py
	assert_output "$(printf '%s\n' 'user.py:2: note: Revealed type is "Union[builtins.int, None]"' \
		'user.py:4: note: Revealed type is "builtins.int"' \
		'user.py:5: error: Argument "hard" to "assign" has incompatible type "float"; expected "Union[int, str, None]"  [arg-type]' \
		'Found 1 error in 1 file (checked 1 source file)')"
	MYPYPATH=$srcdir/contrib/python PYTHONPATH='' run -0 /usr/bin/mypy --strict --cache-dir cache "$srcdir/contrib/provisioner/provisioner.py"
}

@test "Python: a failure is an OSError with its errno and a class of its own, also without the program" {
	cd "$BATS_TEST_TMPDIR"
	ln -s "$FSQUOTA" fsquota
	PATH=$BATS_TEST_TMPDIR:$PATH run -0 /usr/bin/python3 - <<-'EOF'
		import errno, os, pickle
		import fsquota

		def fails(kind, function, *words, **more):
		    try:
		        raise AssertionError(function(*words, **more))
		    except kind as error:
		        return error

		error = fails(FileNotFoundError, fsquota.usage, "/none")
		assert isinstance(error, fsquota.NotFoundError) and error.errno == errno.ENOENT and error.filename == "/none"
		assert str(pickle.loads(pickle.dumps(error))) == str(error) == "/none: cannot open: No such file or directory"
		error = fails(ValueError, fsquota.assign, "/none", hard="much")
		assert 'hard="none" takes it away' in str(fails(ValueError, fsquota.resize, "/none", hard=None))
		assert isinstance(error, OSError) and error.errno == 0 and type(error) is fsquota.UsageError
		for wrong in ({"id": "1\0"}, {"owner": "a:b", "group": 1}, {"hard": "1M", "limits": fsquota.Limits()}):
		    fails(fsquota.UsageError, fsquota.assign, "/none", **wrong)
		# A path is that of the directory in which the program is now.
		os.mkdir("one")
		os.chdir("one")
		assert fsquota.usage(".", walk=True).path == os.getcwd() + "/."
		# Its child asks a process of its own.
		if os.fork() == 0:
		    os._exit(7 if fails(OSError, fsquota.usage, "/none") else 1)
		assert os.waitstatus_to_exitcode(os.wait()[1]) == 7 and fails(OSError, fsquota.usage, "/none")
		# A process that dies while nobody asks is replaced.
		import fsquota._program
		process = fsquota._program._idle[0].process
		process.kill()
		process.wait()
		assert fails(OSError, fsquota.usage, "/none").errno == errno.ENOENT
		fsquota._program.PROGRAM = "/none"
		fsquota._program._close_idle()
		error = fails(fsquota.FsquotaError, fsquota.usage, "/")
		assert error.errno == errno.ENOENT and not isinstance(error, FileNotFoundError), error
	EOF
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

@test "Go: go get takes the module from a clone of the repository, and go install its program" {
	local module version at=$BATS_TEST_TMPDIR
	module=$(sed -n 's/^module //p' "$srcdir/contrib/clients/go/go.mod")
	version=v$("$FSQUOTA" --version | cut -d ' ' -f 2)
	mkdir -p "$at"/{fsquota/contrib/clients,user}
	cp -r "$srcdir/contrib/clients/go" "$at/fsquota/contrib/clients"
	export GIT_CONFIG_GLOBAL=$at/config GOPRIVATE='*' GOPROXY=direct GOFLAGS=-modcacherw GOCACHE=$at/cache \
		GOPATH=$at/path
	git config --file "$at/config" "url.file://$at/fsquota.insteadOf" "https://${module%%.git/*}"
	git config --file "$at/config" user.email fsquota@example.org
	git config --file "$at/config" user.name fsquota
	cd "$at/fsquota"
	git init -q
	git add .
	git commit -qm fsquota
	git tag "contrib/clients/go/$version"
	cd ../user
	go mod init example.org/user
	run -0 go get "$module@$version"
	run -0 ticking go install "$module/client@$version"
	mkdir "$at/bin"
	ln -s "$FSQUOTA" "$at/bin/fsquota"
	PATH=$at/bin:$PATH prints 'cannot open' "$at/path/bin/client" /nowhere
}
