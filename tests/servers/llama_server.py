"""llama.cpp's server, from its wheel, until it is ended.

python tests/servers/llama_server.py FILE WINDOW SLOTS
"""

import sys
import time

import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.model_alias = {"tiny"}
params.n_parallel = int(sys.argv[3])
params.n_ctx = int(sys.argv[2]) * params.n_parallel
params.hostnames = ["127.0.0.1"]
params.port = 0
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)  # noqa: T201
while True:
    time.sleep(60)
