# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# What tests share whose machine boots an initramfs of its own.
#
#   kernel, release     User-Mode Linux, and its version
#   put_step TREE       the files of the step of the boot, where packages have them, and the kernel's modules
#   boot SECONDS [ARGUMENT...]   the machine with this disk, until it is off; its console is in the file console

kernel=$(command -v linux.uml) || fail "install user-mode-linux"
release=$("$kernel" --version)

put_step() {
	local tree=$1 step=$srcdir/contrib/at-boot
	mkdir -p "$tree"/{etc,boot} "$tree"/usr/{bin,sbin,share/{fsquota,initramfs-tools/{hooks,scripts/local-premount}}} \
		"$tree"/usr/lib/{modules,dracut/modules.d/95fsquota}
	cp "$step/fsquota-at-boot" "$tree/usr/share/fsquota"
	cp "$step/initramfs-hook" "$tree/usr/share/initramfs-tools/hooks/fsquota"
	cp "$step/initramfs-script" "$tree/usr/share/initramfs-tools/scripts/local-premount/fsquota"
	cp "$step/dracut"/* "$tree/usr/lib/dracut/modules.d/95fsquota"
	cp -r "/usr/lib/uml/modules/$release" "$tree/usr/lib/modules"
	"$kernel" --showconfig >"$tree/boot/config-$release"
}

# The kernel is ended by its own PID: it is several processes.
boot() {
	local preload='' fields
	if grep -qw amx_tile /proc/cpuinfo; then
		preload=$PWD/xstate.so
		"${CC:-cc}" -shared -fPIC -O1 -o "$preload" "$srcdir/tests/guest/xstate.c"
	fi
	# It is faster on one processor (tests/guest/run): on that which the scheduler has chosen now.
	read -ra fields </proc/self/stat
	ticking setpriv --pdeathsig TERM taskset -c "${fields[38]}" \
		timeout -s KILL "$1" env ${preload:+"LD_PRELOAD=$preload"} "$kernel" mem=512M ubda="${disk:?}" \
		root=/dev/ubda "${@:2}" uml_dir="$PWD/" umid=machine con=null con0=null,fd:1 ssl=null loglevel=5 \
		</dev/null >console 2>&1 || true
	[ ! -e machine/pid ] || kill -KILL "$(<machine/pid)" 2>/dev/null || :
}
