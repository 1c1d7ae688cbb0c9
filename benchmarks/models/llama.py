"""Serve a GGUF file on loopback until standard input ends: `python llama.py FILE NAME TOKENS THREADS`.

Prints its address once the model is loaded. `benchmarks.models.weights` runs it, with the server's own folder on the
path. Standard input ends with the process that started this one, however that happens.
"""

import os
import sys
from pathlib import Path

import xllamacpp

REQUESTS_AT_ONCE = 2
KEPT_PROMPTS_MB = 1024


def main() -> None:
    file, name, context_tokens, threads = sys.argv[1:]
    parameters = xllamacpp.CommonParams()
    parameters.model.path, parameters.model_alias = str(Path(file)), {name}
    parameters.n_parallel = REQUESTS_AT_ONCE
    parameters.n_ctx = int(context_tokens) * REQUESTS_AT_ONCE  # They share it.
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = int(threads)
    parameters.hostnames, parameters.port = ["127.0.0.1"], 0
    parameters.cache_ram_mib, parameters.warmup = KEPT_PROMPTS_MB, False
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    sys.stdin.read()
    os._exit(0)  # At once: the server's own end waits for replies that nobody reads any more.


if __name__ == "__main__":
    main()
