# SPDX-License-Identifier: Apache-2.0
"""layouts.py HEADER: compare each struct and number of the Python module with what the C compiler makes of the header."""
import ctypes
import inspect
import subprocess
import sys
import tempfile

from fsquota import _library

want = {name: value for name, value in vars(_library).items() if name.startswith("FSQ_") and type(value) is int}
for name, struct in inspect.getmembers(_library, lambda it: inspect.isclass(it) and it.__name__.startswith("fsq_")):
    want[f"sizeof(struct {name})"] = ctypes.sizeof(struct)
    for field, *_ in struct._fields_:
        place = getattr(struct, field)
        want[f"offsetof(struct {name}, {field})"] = place.offset
        want[f"sizeof(((struct {name} *)0)->{field})"] = place.size
program = "".join(f'\tprintf("%lld\\n", (long long)({what}));\n' for what in want)
with tempfile.TemporaryDirectory() as work:
    with open(f"{work}/program.c", "w") as source:
        source.write(f'#include <stdio.h>\n#include "{sys.argv[1]}"\nint main(void)\n{{\n{program}\treturn 0;\n}}\n')
    subprocess.run(["gcc", "-Wall", "-Werror", "-o", f"{work}/program", f"{work}/program.c"], check=True)
    has = subprocess.check_output(f"{work}/program", text=True).split()
wrong = [f"{what} is {there}, not {here}" for (what, here), there in zip(want.items(), has) if (int(there) - here) % 2**64]
print("\n".join(wrong) or f"{len(want)} are so")
