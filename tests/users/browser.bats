#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=install
# needs: chromium
#
# The page of report --html in a real browser, on this machine; a guest has written it.

# shellcheck disable=SC2154 # run sets output
load ../lib/fsquota

setup_file() { a_guest_writes "$BATS_FILE_TMPDIR" "$BATS_TEST_DIRNAME/pages"; }
setup() { cd "$BATS_FILE_TMPDIR" || return; }

# browser FILE OPTION...
browser() {
	"$BATS_TEST_DIRNAME/../lib/browser" "$@" 2>"$BATS_TEST_TMPDIR/log" 3>&- ||
		fail "$(tail -n 5 "$BATS_TEST_TMPDIR/log")"
}

# colors FILE SCHEME: how many pixels of a picture have each colour, the most frequent first
colors() {
	browser "$1" --blink-settings="preferredColorScheme=$2" --window-size=1000,700 --screenshot="$BATS_TEST_TMPDIR/shot.png"
	python3 "$BATS_TEST_DIRNAME/../lib/png-colors" "$BATS_TEST_TMPDIR/shot.png"
}

@test "the page is light and dark as the reader's system is, and its bars have the colours of tables" {
	run -0 colors few.html 1
	assert_line --index 0 --regexp '^ffffff '
	for color in 1a7f37 9a6700 cf222e; do assert_line --regexp "^$color "; done
	run -0 colors few.html 0
	assert_line --index 0 --regexp '^0d1117 '
	for color in 3fb950 d29922 f85149; do assert_line --regexp "^$color "; done
}

@test "names are text, sizes are there, and nothing is loaded" {
	browser few.html --dump-dom >"$BATS_TEST_TMPDIR/dom"
	run -0 grep -o '<td>/mnt/x[^t].*' "$BATS_TEST_TMPDIR/dom"
	refute_output --partial '<img'
	assert_output --partial '/mnt/x/&lt;img src=x&gt;&amp;amp;"'
	assert_line --regexp '<td>/mnt/x/full</td>.*>10M</td>.*>100.0%</td>.*class="bar full".*>0B</td>'
	assert_line --regexp '<td>/mnt/x/near</td>.*>92.5%</td>.*class="bar near"'
	# Since the page that this one replaces.
	grep -qE '; growth since 20[0-9:T-]+' "$BATS_TEST_TMPDIR/dom"
	assert_line --regexp '<td>/mnt/x/half</td>.*>6M</td><td class="n">\+1M</td>'
	assert_line --regexp '<td>/mnt/x/near</td>.*>9.3M</td><td class="n">−128K</td>'
	assert_line --regexp '<td>/mnt/x/full</td>.*>10M</td><td class="n"></td>'
	grep -q 'note</td><td>/mnt/x/gone</td><td>line [0-9]* of /etc/projects' "$BATS_TEST_TMPDIR/dom"
	refute_regex "$(grep -v '<td>' "$BATS_FILE_TMPDIR/few.html")" '(src|href)='
	# The largest first.
	assert_equal "$(grep -o '<td>/mnt/x/[fnh][a-z]*' "$BATS_TEST_TMPDIR/dom" | head -n 3 | xargs)" \
		"<td>/mnt/x/full <td>/mnt/x/near <td>/mnt/x/half"
}

# in_page FILE SCRIPT: what a script prints by say() in a page whose document is "page"; sets output.
in_page() {
	cat >"$BATS_TEST_TMPDIR/page.html" <<-END
		<iframe src="file://$BATS_FILE_TMPDIR/$1"></iframe><script>
		const frame = document.querySelector("iframe"), said = [], say = text => said.push(text)
		frame.onload = () => {
			const page = frame.contentDocument, table = page.querySelector(".p")
			$2
			document.body.innerText = said.join("\n")
		}
		</script>
	END
	browser "$BATS_TEST_TMPDIR/page.html" --allow-file-access-from-files --dump-dom >"$BATS_TEST_TMPDIR/dom"
	run -0 sed -n 's/<br>/\n/g; s/^.*<body>\(.*\)<\/body>.*$/\1/p' "$BATS_TEST_TMPDIR/dom"
}

@test "the page sums up, filters by what is typed, and sorts by the column that is clicked" {
	in_page few.html '
		const names = () => [...table.tBodies[0].rows].map(row => row.cells[0].textContent.slice(7, 11)).join(" ")
		const filter = page.querySelector("input")
		say(page.querySelector("h1 ~ p:not(:first-of-type)").textContent.trim())
		say(page.querySelector("[data-when]").textContent.split(", ").length)
		say(names())
		for (const head of [8, 8, 0]) { table.tHead.rows[0].cells[head - (head == 8)].click(); say(names()) }
		filter.value = "NEAR"; filter.dispatchEvent(new Event("input")); say(names())'
	assert_line --index 0 --regexp '^5 projects use [0-9.]+M: 1 at the limit, 1 near it\.$'
	assert_line --index 1 4
	# As it is written, by use downwards and upwards, and by name.
	assert_line --index 2 'full near half  gone &lt;img'
	assert_line --index 3 'full near half  gone &lt;img'
	assert_line --index 4 ' gone &lt;img half near full'
	assert_line --index 5 ' &lt;img full gone half near'
	assert_line --index 6 near
}

@test "of ten thousand projects the page shows 500, all on demand, and finds each" {
	in_page many.html '
		const count = () => table.tBodies[0].rows.length, [filter, more] = page.querySelector(".tools").children
		say(count() + " " + more.textContent)
		filter.value = "nothing"; filter.dispatchEvent(new Event("input")); say(count() + " " + more.hidden)
		filter.value = ""; filter.dispatchEvent(new Event("input")); more.click(); say(count() + " " + more.hidden)'
	assert_output "500 Show all 10001
0 true
10001 true"
}

# bats test_tags=full
@test "ten thousand projects are a page" {
	browser many.html --dump-dom >"$BATS_TEST_TMPDIR/dom"
	assert_equal "$(grep -c 'class="bar"' "$BATS_TEST_TMPDIR/dom")" 10001
	assert [ "$(stat -c %s "$BATS_FILE_TMPDIR/many.html")" -lt 4500000 ]
}

@test "the page fits windows of 480, 768 and 1280 pixels, and names are in one piece" {
	cat >"$BATS_TEST_TMPDIR/page.html" <<-END
		<iframe src="file://$srcdir/doc/report.html"></iframe><script>
		const frame = document.querySelector("iframe"), found = []
		frame.onload = () => {
			const page = frame.contentDocument, cells = [...page.querySelectorAll("td")]
			for (const width of [480, 768, 1280]) {
				frame.width = width
				const broken = cells.filter(cell => {
					const range = page.createRange()
					range.selectNodeContents(cell)
					return /^[^ -]+$/.test(cell.innerText) && range.getClientRects().length > 1
				})
				const before = cells.map(cell => frame.contentWindow.getComputedStyle(cell, "::before").content)
				found.push([width, page.documentElement.scrollWidth, broken.length, before.filter(text => text != "none").length])
			}
			document.body.innerText = found.join("\n")
		}
		</script>
	END
	browser "$BATS_TEST_TMPDIR/page.html" --allow-file-access-from-files --dump-dom >"$BATS_TEST_TMPDIR/dom"
	# Numbers: four of the filesystem, eight of each project.
	run -0 grep -o '[0-9,]*,[0-9,]*' "$BATS_TEST_TMPDIR/dom"
	assert_output "480,480,0,60
768,768,0,60
1280,1280,0,0"
}
