#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# client.sh DIRECTORY...: how many bytes each uses, by one fsquota batch. Needs jq.
coproc FSQUOTA { exec fsquota batch; }

# ask WORD...: sets answer.
ask() {
	jq -cn '$ARGS.positional' --args -- "$@" >&"${FSQUOTA[1]}"
	IFS= read -r answer <&"${FSQUOTA[0]}"
}

for directory; do
	ask usage -- "$directory"
	jq -r '.error.message // .usage[0].used_bytes' <<<"$answer"
done
