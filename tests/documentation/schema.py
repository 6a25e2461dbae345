#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""schema.py FSQUOTA FILE: validate every JSON answer in the file against "fsquota schema".

Prints what is not as the schema says, and how many answers there were."""
import json
import subprocess
import sys

import jsonschema


def documents(text):
    decoder = json.JSONDecoder()
    while text := text.lstrip():
        document, end = decoder.raw_decode(text)
        yield document
        text = text[end:]


def main():
    schema = json.loads(subprocess.run([sys.argv[1], "schema"], check=True, capture_output=True).stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    count, wrong = 0, 0
    for document in documents(open(sys.argv[2], encoding="utf-8").read()):
        command = next(iter(document))
        count += 1
        for error in jsonschema.Draft202012Validator(schema["$defs"][command]).iter_errors(document):
            wrong += 1
            print(f"{command}: {error.json_path}: {error.message}"[:400])
    print(f"{count} answers")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
