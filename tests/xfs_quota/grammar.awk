# SPDX-License-Identifier: Apache-2.0
#
# The grammar of "generate", which documents it: awk -v seed= -v count= -v fs= -v batch=

# Numbers of its own (Park and Miller), since those of awk differ from one to the next; they stay
# below 2^46, which every awk can multiply exactly.
function random(n) {
	state = (state * 16807) % 2147483647
	return int(state / 7) % n
}

function chance(percent) {
	return random(100) < percent
}

# One of the words, in which ^ stands for a blank.
function pick(words,	list) {
	words = list[random(split(words, list, " ")) + 1]
	gsub(/\^/, " ", words)
	return words
}

# A part of the letters as options, together or apart, one of them twice now and then.
function options(letters, percent,	i, text, letter) {
	for (i = 1; i <= length(letters); i++) {
		if (!chance(percent)) continue
		letter = substr(letters, i, 1)
		text = text (text != "" && chance(70) ? letter : " -" letter)
		if (chance(4)) text = text letter
	}
	return text (chance(1) ? " -" pick("Z y 5") : "")
}

# One type mostly; sets type to what it stands for.
function one_type(	text) {
	type = pick("p p p p p p u u g g none")
	text = type == "none" ? "" : " -" type
	if (type == "none") type = "u"
	return text (chance(3) ? " -" pick("u g p") : "")
}

# An ID or name of that type. Sets small to whether its limits may be as small as one likes; what
# is in the projects file, and the default limits, must stay above the use (deviation 9 of df).
function id(	text) {
	small = 1
	if (type == "p") text = pick("1 5 5 42 42 0 1234 1234 1234 777 4242 010 +5 2147483647")
	else if (type == "u") text = pick("0 root bin bin 2 daemon 1 7 1000 65534 +7")
	else text = pick("0 root bin 2 sys 7 1000")
	if (chance(8)) text = pick("nosuch 5x 0x10 1.5 +")
	if (type == "p" && chance(10)) text = pick("first second big")
	if (high && chance(25)) text = pick("2147483648 3000000000 4294967294")
	if (text ~ /^(0|42|first|second|root|\+)$/) small = 0
	return text
}

# The same for commands that refuse what is no ID at all as xfs_quota does.
function id_to_set(	text) {
	text = id()
	if (chance(4)) text = pick("4294967295 4294967296 18446744073709551617")
	return text
}

function size(	text) {
	if (chance(6)) return pick("abc 10q 10mb 1.5m m k 0x 09 1mm")
	if (chance(25)) return "0"
	if (chance(4)) return "1234567890123"
	if (!small) return pick("1m 2m 64m 1024k 4096k 1g 1G 3t 1p 0x100000 010000000 7e 20000s 4096b 2M")
	return pick("512 513 1023 1024 4095 4096 4097 1000000 1048577") (chance(50) ? "" : \
		pick("k m g t s b K M G T")) (chance(2) ? "x" : "")
}

function size_or_round() {
	return chance(40) ? size() : chance(20) ? "0" : (small ? pick("4k 8k 64k 1m 0x10k 010k 100K 1s 3b") : \
		pick("1m 3m 10m 1g")) (chance(2) ? "i" : "")
}

function number_of_inodes() {
	if (chance(25)) return "0"
	if (!small) return pick("100 1000 0x100 01000 999999 4294967296")
	return pick("1 2 3 5 100 200 0x10 010 +7 1000000 4294967295 9223372036854775807")
}

function limits(	text, n) {
	for (n = 1 + random(4); n > 0; n--) {
		if (chance(60)) text = text " " pick("bhard bhard bsoft") "=" size_or_round()
		else if (chance(75)) text = text " " pick("ihard isoft") "=" number_of_inodes()
		else if (fs == "x" || chance(30)) text = text " " pick("rtbhard rtbsoft") "=" size_or_round()
		else text = text " bsoft=0"
	}
	if (chance(3)) text = text " " pick("foo=1 BHARD=1m =1m bogus")
	return text
}

function limit(	of_type, text, who) {
	of_type = one_type()
	sub(/ -[ugp] /, " ", of_type) # two types and a wrong key: not the same yet
	who = id_to_set()
	if (chance(8)) {
		small = 0
		return "limit -d" of_type limits()
	}
	if (chance(4)) return "limit " pick("x 5 bhard=") of_type " " who
	text = limits()
	return chance(10) ? "limit" text of_type " " who : "limit" of_type text " " who
}

# -f FILE, which must not exist; what is in it is shown at the end of the line.
function to_file(	name) {
	if (!chance(7)) return ""
	if (chance(10)) return " -f /nodir/x"
	name = "/run/t/o" (chance(80) ? ++files : files)
	shown = shown "; cat " name
	return " -f " name
}

function quota(	of_type, text, n) {
	of_type = one_type()
	text = pick("quota quota quota l") options("birhnNv", 35) of_type (chance(60) ? " -v" : "") to_file()
	if (chance(3) && fs == "x") return text " -- -5"
	for (n = random(4) - chance(10); n > 0; n--) text = text " " id()
	return text
}

function bound() {
	return pick("0 1 5 6 42 777 1234 1235 2000000000 2147483647 abc 5x -1 4294967294 4294967295")
}

function place() {
	return pick("$M $M $M/t $M/d $DEV /nonexistent /run /")
}

# -t is safe where the first row has something to show.
function report(	text) {
	text = pick("report report repquota") options("ugp", 40) options("birahnN", 25) to_file()
	if (chance(15)) text = text " -ti"
	else {
		if (chance(15)) text = text " -L " (fs == "x" ? bound() : \
			pick("0 1 5 6 42 777 1234 1235 2147483647 abc 5x"))
		if (chance(15)) text = text " -U " bound()
		if (chance(10) && text !~ /n/) text = text " -l" # -n and -l: not the same yet
	}
	return text (chance(10) ? " " place() : "")
}

function df(	text) {
	text = pick("df df free") options("birhN", 30) to_file()
	return text (chance(20) ? " " place() : "") (chance(3) ? " " place() : "")
}

function state_of() {
	return "state" options("ugp", 40) options("av", 20) to_file() (chance(3) ? " word" : "")
}

# What may run down has half a day to spare.
function duration() {
	if (type != "g") return pick("36h 60h 84hours 130000 0x30000 2160m 12960m 204hour 1814400")
	return pick("0 1 59 60 90 1m 7minute 8minutes 1h 5hour 1d 2day 3days 1w 2week 3weeks 0x100 0100 +60 " \
		"4294967295 2147483648 604800")
}

function timer(	of_type, forms) {
	of_type = one_type()
	# Without any it deviates (9) where there is no realtime.
	forms = options("bir", 40)
	if (forms !~ /[bir]/ && (fs != "x" || chance(30))) forms = " -b"
	if (chance(4)) return "timer" of_type forms " 1h 2 3"
	if (chance(15)) return "timer -d" of_type forms " " duration()
	if (chance(40)) return "timer" of_type forms " " duration()
	return "timer" of_type forms " " duration() " " id_to_set()
}

function warn(	of_type) {
	of_type = one_type() options("bir", 25)
	if (chance(20)) return "warn" of_type " -d 3"
	if (chance(10)) return "warn" of_type " 3"
	return "warn" of_type " " pick("3 0 abc 70000 0x5") " " id_to_set()
}

function switches() {
	return pick("enable enable disable off remove") options("ugp", 45) (chance(25) ? " -v" : "") \
		(chance(4) ? " word" : "")
}

# IDs from 2^31 are printed otherwise (deviation 9), so lists that have them look at the others.
function dump(	text) {
	text = "dump" one_type() to_file()
	if (chance(20)) {
		text = text " -L " pick("0 1 5 6 42 1234 777 abc")
		# An empty range would look at all users there are.
		if (fs != "x") return text " -U 2147483646"
	}
	if (high) text = text " -U " pick("1 5 42 1234 9999 2147483646")
	else if (chance(20)) text = text " -U " pick("0 1 5 42 1234 9999 2147483646")
	return text (chance(3) ? " word" : "")
}

function restore() {
	return "restore" one_type() " -f " pick("/run/t/r /run/t/r /nonexistent /run") (chance(3) ? " word" : "")
}

# Lines of limits in blocks of 512 bytes, with words that are none between them.
function restored(	text, n) {
	text = "fs = $DEV\\n"
	for (n = 1 + random(4); n > 0; n--) {
		type = "p"
		if (chance(10)) text = text pick("garbage # 5 fs=x 5,1,2,3,4") "\\n"
		text = text pick("1 5 42 1234 777 4242 7") " " pick("0 2048 8192 0") " " pick("0 4096 16384 20480") \
			" " pick("0 100 200") " " pick("0 500 1000")
		if (chance(10)) text = text " " pick("6 x 2048") (chance(60) ? " 4096" : "")
		text = text "\\n"
	}
	return text
}

function quot(	of_type) {
	of_type = one_type()
	return "quot" of_type options("birnv", 25) (chance(15) ? " -c" : "") (chance(10) ? " -a" : "") to_file() \
		(chance(15) ? " " place() : "")
}

# -p and -d hold for one command here (deviation 6), so nothing follows it.
function project(	text, n) {
	project_seen = 1
	text = pick("project project tree") (chance(90) ? " -" pick("c s s C") : "") \
		(chance(3) ? " -" pick("c s C Z") : "")
	if (chance(25)) text = text " -d " pick("0 1 2 -1 abc")
	if (chance(85)) {
		if (chance(12)) text = "project -c -p $M/d"
		else text = text " -p " pick("$M/t $M/t $M/t/a $M/t/a/b $M/t/c /nonexistent /run/t $M/t/")
	}
	type = "p"
	text = text " " id_to_set()
	return text (chance(5) ? " " id() : "")
}

function command(	n) {
	n = random(100)
	if (n < 22) return limit()
	if (n < 38) return quota()
	if (n < 52) return report()
	if (n < 57) return df()
	if (n < 62) return state_of()
	if (n < 70) return timer()
	if (n < 72) return warn()
	if (n < 75) return switches()
	if (n < 81) return dump()
	if (n < 83) return restore()
	if (n < 87) return quot()
	if (n < 94) return project()
	if (n < 97) return pick("print p path paths print^9 path^1 path^0 path^abc path^-1 paths^9 path^1^2")
	if (n < 98) return pick("help ?") (chance(60) ? " " pick("path print quit restore p bogus ? help q") : "")
	return pick("quit q bogus limits REPORT rep -c ;")
}

# Program options: as usual, or without one of them.
function program(	n) {
	n = random(100)
	if (n < 80) return "$O "
	if (n < 86) return "-x $F -D/dev/null -P/run/t/pi "
	if (n < 90) return "-p PROG $O "
	if (n < 92) return "-x -D/dev/null -P/dev/null "
	if (n < 95) return "$F -D/dev/null -P/dev/null "
	if (n < 97) return "-xf -t /proc/self/mounts -P /run/t/pi -D /dev/null "
	return "-x -x $F -D/nonexistent -P/nonexistent "
}

function commands(most,	text, n) {
	project_seen = 0
	for (n = 1 + random(most); n > 0 && !project_seen; n--) text = text " -c '" command() "'"
	return substr(text, 2)
}

# Productions that deviate; a line for both sets right what one of them has changed.
function marked(	n, who) {
	n = random(fs == "x" ? 5 : 6)
	type = pick("p p g")
	who = "-" type
	if (n == 0) {
		print "D8 xfs_quota $O -c 'limit " who " " pick("bhard=-1m bhard=16e bsoft=9223372036854775808 ihard=10k " \
			"isoft=abc ihard= ihard=-1 bhard=100 bsoft=1 bhard=511") " 4242' $M"
		print "ORACLE xfs_quota $O -c 'limit " who " bsoft=0 bhard=0 isoft=0 ihard=0 4242' $M"
	} else if (n == 1) {
		print "D8 xfs_quota $O -c 'timer " who " -bi " \
			pick("abc 3x 3s 7D 100y 99999999999 4294967296 1.5h 1M") "' $M"
		print "ORACLE xfs_quota $O -c 'timer " who " -bi 907200' $M"
	} else if (n == 2) {
		print "D9 xfs_quota $O -c 'quota " who " -v " pick("4294967295 4294967296 99999999999999999999") "' $M"
	} else if (n == 3) {
		print "D10 xfs_quota $O -c 'help " pick("df limit report quota state dump timer quot off") "' $M"
	} else if (n == 4) {
		print "D2 xfs_quota $O -c '" pick("quota^-pv^1234 df^-N state^-a") "' $M /mnt/x2"
	} else {
		print "D9 xfs_quota $O -c 'timer " who " " pick("907200 1814400") "' $M"
		print "ORACLE xfs_quota $O -c 'timer " who " -bi 907200' $M"
	}
}

# Only some projects of the projects file; a name or number that is not there is complained of.
function selected(	n, text) {
	for (n = 1 + random(2); n > 0; n--) text = text "-d " pick("42 5 first second 1234 nosuch 5x") " "
	return text
}

# Without a path; commands that visit every filesystem for each of them deviate (2).
function everywhere() {
	n = random(3)
	if (n == 0) return "print"
	if (n == 1) return "path" (chance(30) ? " " pick("0 1 9 -1") : "")
	return "report" options("ugpbinN", 30) " " pick("$M /mnt/x2 $DEV /nonexistent")
}

function invocation(	n, text) {
	n = random(100)
	shown = ""
	project_seen = 0
	if (n < 4) print "xfs_quota $O -c '" everywhere() "'" shown
	else if (n < 9) print "xfs_quota -x $F " selected() "-D/run/t/pj -P/run/t/pi -c '" \
		(chance(40) ? pick("print path df") : chance(60) ? project() : command()) "' $M" shown
	else if (n < 74) print "xfs_quota " program() commands(3) " $M" shown
	else if (n < 80) marked()
	else if (n < 86) {
		text = command()
		while (chance(60) && !project_seen) text = text "\\n" command()
		print "printf -- '" text "\\n' | xfs_quota $O $M" shown
	} else if (n < 90) print "printf \"" restored() "\" | xfs_quota $O -c 'restore" one_type() "' $M"
	else if (n < 93) {
		text = pick("x x 1 2") == "x" ? "$M /mnt/x2" : "/mnt/x2 $M"
		print "xfs_quota $O -c '" (chance(40) ? limit() : chance(50) ? report() : dump()) "' " text shown
	} else if (n < 96) print "xfs_quota -x $F -D/run/t/pj -P/run/t/pi " commands(1) " $M" shown
	else if (n < 98)
		print "setpriv --reuid 1000 --regid 1000 --clear-groups xfs_quota $O -c '" \
			pick("report^-pN quota^-v state^-p dump^-p df print") "' $M"
	else print "xfs_quota " pick("-V -Z -c -p --help --^-c -xV -pfoo^-V") " $M"
}

BEGIN {
	state = (seed * 7919 + index("xef", fs) * 104729 + batch * 1299709 + 1) % 2147483646 + 1
	random(2)
	random(2)
	high = chance(30)
	print "title: at random: seed " seed ", batch " batch
	print "on: " fs
	print "with: x2"
	print "prep: ground_for_random $M"
	print "ORACLE xfs_quota $O -c 'timer -p -bi 907200' -c 'timer -u -bi 907200' $M"
	print "ORACLE xfs_quota -x -P/dev/null -D/dev/null -c 'timer -p 907200' -c 'timer 907200' /mnt/x2"
	for (made = 0; made < count; made++) invocation()
}
