"""Skills for an agent in Python: `pip install python-lsp-jsonrpc`, then `skills.py DIR [SKILL]`."""

import json, os, queue, socket, subprocess, sys, threading

from pylsp_jsonrpc.endpoint import Endpoint
from pylsp_jsonrpc.exceptions import JsonRpcException
from pylsp_jsonrpc.streams import JsonRpcStreamReader, JsonRpcStreamWriter

# Starts the daemon where none runs, and asks where it listens.
subprocess.run(["skillsd", "sync"], check=True, stdout=subprocess.DEVNULL)
status = json.loads(subprocess.check_output(["skillsd", "status", "--json"]))
stream = socket.socket(socket.AF_UNIX)
stream.connect(status["socket"])
events = queue.Queue()
daemon = Endpoint({"events/event": events.put}, JsonRpcStreamWriter(stream.makefile("wb")).write)
reader = JsonRpcStreamReader(stream.makefile("rb"))
threading.Thread(target=reader.listen, args=[daemon.consume], daemon=True).start()


def ask(method, **params):
    params = {"cwd": os.path.abspath(sys.argv[1]), "profile": "claude-code", **params}
    return daemon.request(method, params).result(timeout=30)


clock = ask("events/subscribe", kinds=["skills/changed"])["clock"]
print(ask("catalog/render")["text"], flush=True)
if len(sys.argv) > 2:
    try:
        print(ask("skills/load", name=sys.argv[2])["output"], flush=True)
    except JsonRpcException as error:  # `hint` says what to do, to a person or a model.
        print(f"{error.message}. {error.data['hint']}", flush=True)
while events.get():  # At most one event is on its way; what changed is asked for.
    changed = ask("skills/list", since=clock)
    clock = changed["clock"]
    print(*("+ " + it["name"] for it in changed["skills"]), sep="\n", flush=True)
