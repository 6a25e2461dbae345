#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# metrics --listen: what metrics prints, over HTTP, to whom asks for it; whatever others send, and however long it
# takes, it goes on.

load ../lib/fsquota
load ../native/projects

setup_file() {
	loopback_up
	make_projects
}

setup() {
	register_projects
	page=$BATS_TEST_TMPDIR/page
	server=''
}

teardown() {
	[ -z "$server" ] || end_process "$server"
	rm -rf /etc/fsquota.d
}

# listens [WORD...]: start it in front of the tests' own words, and wait until it takes requests
listens() {
	"$@" "$FSQUOTA" metrics --listen 127.0.0.1:9753 2>"$BATS_TEST_TMPDIR/said" 3>&- 4>&- &
	server=$!
	until_true connects 127.0.0.1
}

# connects ADDRESS: something takes requests there
connects() { python3 -c 'import socket, sys; socket.create_connection((sys.argv[1], 9753))' "$1" 2>/dev/null; }

# get LINE...: the page that the request is answered with goes to $page, the header is printed
get() { "$BATS_TEST_DIRNAME/http" 127.0.0.1 9753 "$@" "@$page"; }

# numbers FILE: what is in it, but what is different each time
numbers() { grep -Ev '^fsquota_(filesystem_scan|project_grace)_' "$1"; }

# is_page: what came is what metrics prints
is_page() {
	fsquota metrics >"$page.printed"
	diff <(numbers "$page.printed") <(numbers "$page")
}

@test "the page is what metrics prints, each time anew, and SIGTERM ends it with status 0" {
	listens
	run -0 get 'GET /metrics HTTP/1.1' 'Host: node'
	assert_line --index 0 'HTTP/1.1 200 OK'
	assert_line 'Content-Type: text/plain; version=0.0.4; charset=utf-8'
	is_page
	mkdir /etc/fsquota.d
	echo '/mnt/x budget=1G' >/etc/fsquota.d/node.conf
	fsquota resize --hard 20M /mnt/x/web
	run -0 get 'GET /metrics?from=here HTTP/1.0'
	is_page
	assert_equal "$(grep -c '^fsquota_budget_bytes{.* 1073741824$' "$page")" 1
	assert_equal "$(grep -c '^fsquota_project_hard_bytes{.*path="/mnt/x/web".* 20971520$' "$page")" 1
	fsquota resize --hard 10M --allow-shrink /mnt/x/web
	kill "$server"
	wait "$server"
	assert_equal "$(<"$BATS_TEST_TMPDIR/said")" ''
}

@test "who accepts OpenMetrics gets it" {
	listens
	run -0 get 'GET /metrics HTTP/1.1' 'accept: text/html, application/openmetrics-text;version=1.0.0;q=0.5' \
		'Accept-Encoding: gzip'
	assert_line 'Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8'
	assert_line 'Vary: Accept'
	is_page
	# A page has its length without being sent.
	run -0 get 'HEAD /metrics HTTP/1.1'
	assert_line --index 0 'HTTP/1.1 200 OK'
	assert_line --regexp '^Content-Length: [0-9]{4,}$'
	assert_equal "$(stat -c %s "$page")" 0
}

@test "nothing else is answered" {
	local request
	listens
	for request in "404 GET / HTTP/1.1" "404 GET /metricsx HTTP/1.1" "404 GET /../metrics HTTP/1.1" "404 GET //metrics HTTP/1.1" \
		"405 POST /metrics HTTP/1.1" "405 get /metrics HTTP/1.1" "405 POST /healthz HTTP/1.1" "404 GET /healthz/ HTTP/1.1" "400 GET /metrics" "400 GET /metrics HTTP/2"; do
		run get "${request#* }"
		assert_equal "$request: ${lines[0]%% [A-Z]*}" "$request: HTTP/1.1 ${request%% *}"
		run ! grep fsquota "$page"
	done
	run get 'POST /metrics HTTP/1.1'
	assert_line 'Allow: GET, HEAD'
	# libmicrohttpd 0.9 closes the connection.
	run get hello
	[ "$status" = 3 ] || assert_line --index 0 --partial 'HTTP/1.1 400 '
	run get 'GET /metrics HTTP/1.1' "X: $(printf '%9000s' '')"
	assert_line --index 0 'HTTP/1.1 431 Request Header Fields Too Large'
	run python3 -c 'import socket; s = socket.create_connection(("127.0.0.1", 9753))
s.sendall(b"GET /metrics HTTP/1.1\0\r\n\r\n"); print(s.recv(30))'
	# libmicrohttpd 1.0 closes the connection.
	[ "$output" = "b''" ] || assert_output --partial 400
	run -0 get 'GET /metrics HTTP/1.1'
	is_page
	assert_equal "$(<"$BATS_TEST_TMPDIR/said")" ''
}

@test "who says nothing is left, and many at once have the page" {
	local clients=() i
	listens
	python3 -c 'import socket
s = socket.create_connection(("127.0.0.1", 9753)); s.sendall(b"GET /met"); print(s.recv(1))' >"$page.silent" 3>&- &
	run -0 get 'GET /metrics HTTP/1.1'
	wait $!
	assert_equal "$(<"$page.silent")" "b''"
	is_page
	for i in {1..12}; do
		"$BATS_TEST_DIRNAME/http" 127.0.0.1 9753 'GET /metrics HTTP/1.1' "@$page.$i" >"$page.$i.head" 3>&- &
		clients+=($!)
	done
	for i in "${clients[@]}"; do
		wait "$i"
	done
	for i in {1..12}; do
		diff <(numbers "$page") <(numbers "$page.$i")
	done
	assert_equal "$(pgrep -cP "$server")" 0
}

@test "who says nothing, or not all, delays others for seconds at most" {
	local silent began
	listens
	# More than it serves at once.
	python3 -c 'import signal, socket
all = [socket.create_connection(("127.0.0.1", 9753)) for _ in range(100)]
for one in all[:50]: one.sendall(b"GET /met")
print("connected", flush=True)
signal.pause()' >"$page.silent" 3>&- 4>&- &
	silent=$!
	until_true grep -q connected "$page.silent"
	began=$SECONDS
	run -0 get 'GET /metrics HTTP/1.1'
	# One after the other they would take 500 seconds.
	[ $((SECONDS - began)) -lt 20 ] || fail "$((SECONDS - began)) seconds"
	kill $silent
	is_page
}

@test "without a descriptor for a connection it waits, and says so once" {
	local client first=0
	listens strace -qq -o "$BATS_TEST_TMPDIR/trace" -e trace=accept,accept4,poll,ppoll
	server=$(pgrep -xP "$server" fsquota)
	while [ -e "/proc/$server/fd/$first" ]; do ((first += 1)); done
	prlimit --pid "$server" --nofile=$first:
	"$BATS_TEST_DIRNAME/http" 127.0.0.1 9753 'GET /metrics HTTP/1.1' "@$page" >"$page.head" 3>&- 4>&- &
	client=$!
	until_true grep -q EMFILE "$BATS_TEST_TMPDIR/trace"
	nap 2
	prlimit --pid "$server" --nofile=1024:
	wait "$client"
	assert_equal "$(head -n 1 "$page.head")" 'HTTP/1.1 200 OK'
	[ "$(grep -c EMFILE "$BATS_TEST_TMPDIR/trace")" -lt 100 ] || fail "$(grep -c EMFILE "$BATS_TEST_TMPDIR/trace") calls"
	run -0 cat "$BATS_TEST_TMPDIR/said"
	assert_output 'fsquota metrics: cannot take a request: Too many open files'
}

@test "a socket that was shut down ends it" {
	run -1 timeout 60 python3 -c 'import os, socket, subprocess, sys
s = socket.create_server(("127.0.0.1", 9753))
def begin():
    os.dup2(s.fileno(), 9)
    os.dup2(9, 3)
server = subprocess.Popen(["sh", "-c", "LISTEN_FDS=1 LISTEN_PID=$$ exec \"$FSQUOTA\" metrics --listen systemd"], preexec_fn=begin, close_fds=False)
client = socket.create_connection(("127.0.0.1", 9753))
client.sendall(b"GET /metrics HTTP/1.1\r\nHost: node\r\n\r\n")
client.recv(1)
s.shutdown(socket.SHUT_RDWR)
sys.exit(server.wait(50))'
	assert_output --partial 'does not listen any more'
}

@test "where no filesystem has quota the page says that" {
	local reason='no filesystem with quota is mounted' file=$BATS_TEST_TMPDIR/file.prom
	# Without the mounts of others.
	listens unshare -m bash -c 'umount /mnt/*; exec "$@"' bash
	run -0 get 'GET /metrics HTTP/1.1'
	assert_line --index 0 'HTTP/1.1 200 OK'
	assert_equal "$(grep -v '^# [TH]' "$page")" "fsquota_up{reason=\"$reason\"} 0"$'\n# EOF'
	run -0 "$BATS_TEST_DIRNAME/http" 127.0.0.1 9753 'GET /healthz HTTP/1.1' "@$page.health"
	assert_line --index 0 'HTTP/1.1 503 Service Unavailable'
	assert_equal "$(<"$page.health")" "fsquota metrics: $reason; see fsquota doctor"
	run -3 unshare -m bash -c 'umount /mnt/*; exec "$@"' bash "$FSQUOTA" metrics --output-file "$file"
	assert_output "fsquota metrics: $reason; see fsquota doctor"
	diff "$file" "$page"
	run -0 fsquota metrics
	assert_line 'fsquota_up 1'
}

# bats test_tags=shared
# musl forks by another call.
@test "what cannot be answered as a whole is refused with an error, and the next request is answered" {
	mkdir /etc/fsquota.d
	echo '/mnt/x budget=much' >/etc/fsquota.d/node.conf
	listens strace -qq -o /dev/null -e trace=clone -e inject=clone:error=EAGAIN:when=1
	server=$(pgrep -xP "$server" fsquota)
	run get 'GET /metrics HTTP/1.1'
	assert_line --index 0 'HTTP/1.1 503 Service Unavailable'
	run get 'GET /metrics HTTP/1.1'
	assert_line --index 0 'HTTP/1.1 500 Internal Server Error'
	rm /etc/fsquota.d/node.conf
	run -0 get 'GET /healthz HTTP/1.1'
	assert_equal "$(<"$page")" ok
	run -0 get 'GET /metrics HTTP/1.1'
	is_page
	run -0 cat "$BATS_TEST_TMPDIR/said"
	assert_line --index 0 'fsquota metrics: cannot answer: Resource temporarily unavailable'
	assert_line --index 1 --partial 'node.conf'
	assert_equal ${#lines[@]} 2
}

# holds: a page that is read from now on waits until "goes_on"
holds() {
	mkdir -p /etc/fsquota.d
	mkfifo /etc/fsquota.d/node.conf
	exec 8<>/etc/fsquota.d/node.conf
}

goes_on() {
	rm /etc/fsquota.d/node.conf
	exec 8>&-
}

# has_connections COUNT: so many are open, beside the socket that listens
has_connections() { [ "$(find "/proc/$server/fd" -lname 'socket:*' | wc -l)" -gt "$1" ]; }

@test "requests that come while a page is read share the next one" {
	local clients=() i
	listens strace -qq -o "$BATS_TEST_TMPDIR/trace" -e trace=memfd_create
	server=$(pgrep -xP "$server" fsquota)
	holds
	for i in {1..5}; do
		"$BATS_TEST_DIRNAME/http" 127.0.0.1 9753 'GET /metrics HTTP/1.1' "@$page.$i" >"$page.$i.head" 3>&- 4>&- 8>&- &
		clients+=($!)
		[ "$i" != 1 ] || until_true pgrep -P "$server"
	done
	until_true has_connections 5
	goes_on
	for i in {1..5}; do
		wait "${clients[i - 1]}"
		mv "$page.$i" "$page"
		is_page
	done
	assert_equal "$(grep -c memfd_create "$BATS_TEST_TMPDIR/trace")" 2
}

@test "/healthz says ok, also while a page is read, or what cannot be read" {
	local client
	listens sh -c 'exec "$@" /mnt/x' sh
	holds
	get 'GET /metrics HTTP/1.1' &>/dev/null 3>&- 4>&- 8>&- &
	client=$!
	until_true pgrep -P "$server"
	run -0 get 'GET /healthz HTTP/1.1'
	assert_line --index 0 'HTTP/1.1 200 OK'
	assert_equal "$(<"$page")" ok
	goes_on
	wait "$client"
	mv /etc/projects "$BATS_TEST_TMPDIR" && mkdir /etc/projects
	run -0 get 'GET /healthz HTTP/1.1'
	assert_line --index 0 'HTTP/1.1 503 Service Unavailable'
	assert_equal "$(<"$page")" 'fsquota metrics: cannot read /etc/projects: Is a directory'
	rmdir /etc/projects && mv "$BATS_TEST_TMPDIR/projects" /etc
	run -0 get 'GET /healthz HTTP/1.1'
	assert_line --index 0 'HTTP/1.1 200 OK'
}

@test "SIGTERM ends it while a page is read, and the process that reads it" {
	local client child
	listens
	holds
	get 'GET /metrics HTTP/1.1' &>/dev/null 3>&- 4>&- 8>&- &
	client=$!
	until_true pgrep -P "$server"
	child=$(pgrep -P "$server")
	kill "$server"
	wait "$server"
	until_true has_no_process "$child"
	wait "$client" || [ $? = 3 ]
	goes_on
	server=''
}

has_no_process() { ! kill -0 "$1" 2>/dev/null; }

# bats test_tags=slow
@test "while a request cannot be ended, others are told so" {
	local child
	# A process that kill(2) does not end, as one that waits in the kernel.
	listens strace -qq -o /dev/null -e trace=kill -e inject=kill:retval=0
	server=$(pgrep -xP "$server" fsquota)
	holds
	get 'GET /metrics HTTP/1.1' &>/dev/null 3>&- 4>&- 8>&- &
	until_true pgrep -P "$server"
	child=$(pgrep -P "$server")
	kill -STOP "$child"
	goes_on
	run get 'GET /metrics HTTP/1.1'
	assert_line --index 0 'HTTP/1.1 503 Service Unavailable'
	run get 'GET /metrics HTTP/1.1'
	assert_line --index 0 'HTTP/1.1 503 Service Unavailable'
	assert_equal "$(<"$BATS_TEST_TMPDIR/said")" \
		"fsquota metrics: process $child takes longer than 30 s to write the page: does a filesystem hang?"
	kill -KILL "$child"
	until_true get 'GET /metrics HTTP/1.1'
	is_page
}

@test "it serves the sockets that systemd has opened, with or without IPv6, and with the rights of the unit" {
	local activate='import os, socket, sys
address, *words = sys.argv[1:]
s = socket.create_server((address, 9753), family=socket.AF_INET6 if ":" in address else socket.AF_INET)
os.dup2(s.fileno(), 9)
os.dup2(9, 3)
more = socket.create_server(("127.0.0.1", 9754))
os.dup2(more.fileno(), 9)
os.dup2(9, 4)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="2")
os.execvp(words[0], words)' address addresses=(127.0.0.1) words unit=$srcdir/contrib/systemd/fsquota-metrics-http.service
	assert_equal "$(sed -n 's/^CapabilityBoundingSet=//p' "$unit")" 'CAP_SYS_ADMIN CAP_DAC_READ_SEARCH'
	[ ! -e /proc/net/if_inet6 ] || addresses+=(::1)
	words=$(sed -n "s|^ExecStart=/usr/bin/fsquota|$FSQUOTA|p" "$unit")
	for address in "${addresses[@]}"; do
		python3 -c "$activate" $address setpriv --no-new-privs --bounding-set -all,+sys_admin,+dac_read_search --inh-caps -all \
			$words 3>&- 4>&- &
		server=$!
		until_true connects $address
		run -0 "$BATS_TEST_DIRNAME/http" $address 9753 'GET /metrics HTTP/1.1' "@$page"
		is_page
		run -0 "$BATS_TEST_DIRNAME/http" 127.0.0.1 9754 'GET /metrics HTTP/1.1' "@$page"
		is_page
		kill "$server"
		wait "$server"
	done
	# All addresses, of both kinds.
	"$FSQUOTA" metrics --listen :9753 3>&- 4>&- &
	server=$!
	for address in "${addresses[@]}"; do
		until_true connects $address
		run -0 "$BATS_TEST_DIRNAME/http" $address 9753 'GET /metrics HTTP/1.1' "@$page"
		is_page
	done
	end_process "$server"
	# Those of IPv4, if the kernel has no IPv6.
	strace -qq -o /dev/null -e inject=socket:error=EAFNOSUPPORT:when=1 "$FSQUOTA" metrics --listen :9753 3>&- 4>&- &
	server=$!
	until_true connects 127.0.0.1
	server=$(pgrep -xP "$server" fsquota)
}

# bats test_tags=shared
@test "without libmicrohttpd the error names its package" {
	local library
	library=$(realpath "$(ldconfig -p | sed -n 's|.*libmicrohttpd\.so\.12 .*=> ||p')")
	run -1 unshare -m sh -c 'mount --bind /dev/null "$1" && exec "$FSQUOTA" metrics --listen :9753' sh "$library"
	assert_output 'fsquota metrics: libmicrohttpd.so.12: cannot load this library: install the package libmicrohttpd12, or libmicrohttpd'
	run -0 unshare -m sh -c 'mount --bind /dev/null "$1" && exec "$FSQUOTA" metrics' sh "$library"
}

@test "what is no address, or not free, is an error" {
	local address
	for address in '' : :0 :70000 :-1 127.0.0.1 localhost:9753 '[::1:9753' '[]:9753' ::1:9753 1.2.3.4:9753x; do
		refuses 2 "\"$address\" is no ADDRESS:PORT" fsquota metrics --listen "$address"
	done
	refuses 1 'cannot listen on 192.0.2.1:9753: Cannot assign requested address' \
		fsquota metrics --listen 192.0.2.1:9753
	refuses 2 'systemd has passed no socket' fsquota metrics --listen systemd
	refuses 2 'no socket that listens' env LISTEN_FDS=1 \
		sh -c "LISTEN_PID=\$\$ exec '$FSQUOTA' metrics --listen systemd" 3</dev/null
	refuses 2 'exclude each other' fsquota metrics --listen :9753 --output-file /tmp/x
	assert_equal "$(fsquota batch <<<'metrics --listen :9753' | jq -r .error.message)" \
		'metrics --listen is no request: it does not end'
	listens
	refuses 1 'cannot listen on :9753: Address already in use' fsquota metrics --listen :9753
}
