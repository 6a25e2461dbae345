#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""schema.py FSQUOTA TRANSCRIPT...: validate every JSON answer of the transcripts against "fsquota schema".

Prints what is not as the schema says, and how many answers there were. A line of watch is no document, and an
error or a warning is one line: they are passed over."""
import json
import subprocess
import sys

import jsonschema


def documents(file):
    """The JSON documents on standard output, each from a line that begins one."""
    text = ""
    for line in open(file, encoding="utf-8", errors="replace"):
        if line.startswith("1> {") and not text:
            text = line[3:]
        elif text and line.startswith("1> "):
            text += line[3:]
        else:
            text = ""
        try:
            yield json.loads(text)
            text = ""
        except ValueError:
            pass


def main():
    schema = json.loads(subprocess.run([sys.argv[1], "schema"], check=True, capture_output=True).stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    count, wrong = 0, 0
    for file in sys.argv[2:]:
        for document in documents(file):
            # An object of --jsonl can have a key that is called like a command.
            command = next((key for key, value in document.items()
                            if key in schema["$defs"] and isinstance(value, (list, dict))), None)
            if not command:
                continue
            count += 1
            validator = jsonschema.Draft202012Validator(schema["$defs"][command])
            for error in validator.iter_errors(document):
                wrong += 1
                print(f"{file}: {command}: {error.json_path}: {error.message}"[:400])
    print(f"{count} answers")
    return wrong != 0 or count == 0


if __name__ == "__main__":
    sys.exit(main())
