"""Serve a GGUF file on loopback until standard input ends: `python llama.py FILE NAME`.

Prints its address once the model is loaded. `benchmarks.models.weights` runs it, with the server's own folder on the
path. Standard input ends with the process that started this one, however that happens.
"""

import os
import sys

import xllamacpp

CONTEXT_TOKENS = 8192  # What one request and its reply may take together.
REQUESTS_AT_ONCE = 2
# More threads than idle cores are far slower than one: each token waits for the slowest of them. On two cores with ten
# processes waiting, one thread wrote 10 tokens a second and two wrote 0.5.
THREADS = 1
KEPT_PROMPTS_MB = 1024


def main() -> None:
    file, name = sys.argv[1:]
    parameters = xllamacpp.CommonParams()
    parameters.model.path, parameters.model_alias = file, {name}
    parameters.n_parallel = REQUESTS_AT_ONCE
    parameters.n_ctx = CONTEXT_TOKENS * REQUESTS_AT_ONCE  # They share it.
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = THREADS
    parameters.hostnames, parameters.port = ["127.0.0.1"], 0
    parameters.cache_ram_mib, parameters.warmup = KEPT_PROMPTS_MB, False
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    sys.stdin.read()
    os._exit(0)  # At once: the server's own end waits for replies that nobody reads any more.


if __name__ == "__main__":
    main()
