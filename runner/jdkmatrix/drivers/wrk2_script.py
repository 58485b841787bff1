"""A mix of requests as a script for wrk2. Pure.

wrk2 (LuaJIT) loads the script once for itself and once for each thread. It calls `setup` in its own environment for
each thread, `init` in the thread's, and there `request` for every request, and once more in the first thread to check
that the script works (SCRIPTING, `src/script.c` and `src/wrk.c` in giltene/wrk2). Requests are assembled here rather
than by `wrk.format`, so that both drivers send the same bytes: it writes headers in no particular order.

An error in `setup`, `init` or `request` ends wrk2 with its message. A script that cannot be loaded does not: wrk2 says
so and sends plain GETs of its URL instead, which the reader of its output does not accept as a run.
"""

from __future__ import annotations

from jdkmatrix.config.request_mix import Part, Random, RequestMix, Unique

_SCRIPT = """\
local threads = 0
function setup(thread)
  thread:set("thread_index", threads)
  threads = threads + 1
end

local format, random = string.format, math.random
local next_unique
function init(args)
  math.randomseed({seed} + thread_index)
  next_unique = {first_unique} + thread_index
end

-- The highest draw, the highest number that fits (-1: has none), and the request.
local templates = {{
{templates}
}}

function request()
  local draw, i = random({total_weight}), 1
  while draw > templates[i][1] do
    i = i + 1
  end
  local template, unique = templates[i], next_unique
  if template[2] >= 0 then
    if unique > template[2] then
      error(format("the numbers of a unique field are used up: the next is %d; make it wider", unique))
    end
    next_unique = unique + {threads}
  end
  return template[3](unique)
end
"""


def wrk2_script(mix: RequestMix, authority: str, *, threads: int, first_unique: int) -> str:
    """Return Lua for `-s`, in ASCII. Thread t takes the unique number first_unique + t, then every `threads`-th."""
    rows = []
    total_weight = 0
    for template in mix.requests:
        total_weight += template.weight
        last = -1 if template.last_unique is None else template.last_unique
        expression = " .. ".join(_expression(part) for part in template.parts(authority))
        rows.append(f"  {{{total_weight}, {last}, function(unique) return {expression} end}},")
    # LuaJIT's numbers are exact up to 2^53.
    return _SCRIPT.format(
        seed=mix.seed % 2**32,
        first_unique=first_unique,
        templates="\n".join(rows),
        total_weight=total_weight,
        threads=threads,
    )


def _expression(part: Part) -> str:
    if isinstance(part, Unique):
        return f'format("%0{part.width}d", unique)'
    if isinstance(part, Random):
        return f'format("%0{part.width}d", random({part.lowest}, {part.highest}))'
    return '"' + "".join(_character(byte) for byte in part) + '"'


def _character(byte: int) -> str:
    plain = 0x20 <= byte < 0x7F and byte not in b'"\\'
    return chr(byte) if plain else f"\\{byte:03d}"
