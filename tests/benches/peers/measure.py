"""Measures language servers for SKILL.md and their linters on the same worktree, one after the other,
and prints a table. Started by `run`, with its own home: WORKTREE SKILLSD PEERS_BIN.

Every change is sent after the previous one was answered. Its time ends when diagnostics of that
version, or without a version, arrive. Changes are incremental if the server supports them, else the
whole text. Memory is that of the process alone (from /proc), after opening every skill once.
"""

import json
import pathlib
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from queue import Empty, Queue

# The LSP sync kind of servers that accept incremental changes.
INCREMENTAL = 2

ROUNDS = 200
TIMEOUT = 60.0
QUIET = 3.0


class Server:
    """A language server and the pipes to it."""

    def __init__(self, command, worktree):
        self.process = subprocess.Popen(
            command, cwd=worktree, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.messages = Queue()
        # The last published diagnostics of each file.
        self.last = {}
        self.last_id = 0
        threading.Thread(target=self.read, daemon=True).start()
        start = time.perf_counter()
        folder = {"uri": worktree.as_uri(), "name": worktree.name}
        capabilities = {
            "general": {"positionEncodings": ["utf-16"]},
            "textDocument": {"publishDiagnostics": {"versionSupport": True}},
        }
        agreed = self.request(
            "initialize",
            {
                "processId": None,
                "rootUri": worktree.as_uri(),
                "workspaceFolders": [folder],
                "capabilities": capabilities,
            },
        )
        self.initialized_in = time.perf_counter() - start
        self.able = agreed["capabilities"]
        sync = self.able.get("textDocumentSync")
        sync = sync.get("change") if isinstance(sync, dict) else sync
        self.takes_parts = sync == INCREMENTAL
        self.note("initialized", {})

    def read(self):
        stream = self.process.stdout
        while True:
            length = 0
            while (line := stream.readline().strip()) != b"":
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            if length == 0:
                return
            message = json.loads(stream.read(length))
            if message.get("method") == "textDocument/publishDiagnostics":
                self.last[message["params"]["uri"]] = message["params"]["diagnostics"]
            self.messages.put(message)

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def note(self, method, params):
        self.send({"method": method, "params": params})

    def request(self, method, params):
        self.last_id += 1
        wanted = self.last_id
        self.send({"id": wanted, "method": method, "params": params})
        return self.wait(lambda it: it.get("id") == wanted and "method" not in it).get("result")

    def wait(self, is_wanted):
        deadline = time.perf_counter() + TIMEOUT
        while True:
            message = self.messages.get(timeout=max(0.0, deadline - time.perf_counter()))
            if "method" in message and "id" in message:
                # Answers every request of the server with null.
                self.send({"id": message["id"], "result": None})
            if is_wanted(message):
                return message

    def published(self, uri, version):
        def is_wanted(message):
            params = message.get("params") or {}
            return (
                message.get("method") == "textDocument/publishDiagnostics"
                and params["uri"] == uri
                and params.get("version") in (None, version)
            )

        return self.wait(is_wanted)["params"]["diagnostics"]

    def send_open(self, path, text):
        item = {"uri": path.as_uri(), "languageId": "markdown", "version": 0, "text": text}
        self.note("textDocument/didOpen", {"textDocument": item})

    def open(self, path, text):
        self.send_open(path, text)
        return self.published(path.as_uri(), 0)

    def rest(self):
        """Waits until no more messages arrive: facts about nearby files are published later."""
        try:
            while True:
                message = self.messages.get(timeout=QUIET)
                if "method" in message and "id" in message:
                    self.send({"id": message["id"], "result": None})
        except Empty:
            pass

    def close(self, path):
        self.note("textDocument/didClose", {"textDocument": {"uri": path.as_uri()}})

    def memory(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        line = next(it for it in status.splitlines() if it.startswith("VmRSS"))
        return int(line.split()[1]) / 1024

    def end(self):
        self.request("shutdown", None)
        self.note("exit", None)
        self.process.stdin.close()
        self.process.kill()


def chunks(text, size):
    """Returns groups of `size` lines."""
    lines = text.splitlines(keepends=True)
    return ["".join(lines[at : at + size]) for at in range(0, len(lines), size)]


def middle(times):
    """Returns the median and the 99th percentile in milliseconds."""
    ordered = sorted(times)
    at = min(len(ordered) - 1, round(len(ordered) * 0.99))
    return f"{statistics.median(ordered) * 1000:.1f} / {ordered[at] * 1000:.1f}"


def typed(server, path, text, rounds):
    """Types letters at the end of a text and returns the response time of each."""
    server.open(path, text)
    line, column = text.count("\n"), len(text.rsplit("\n", 1)[-1].encode("utf-16-le")) // 2
    times = []
    for version in range(1, rounds + 1):
        at = {"line": line, "character": column + version - 1}
        change = {"range": {"start": at, "end": at}, "text": "x"}
        if not server.takes_parts:
            change = {"text": text + "x" * version}
        document = {"uri": path.as_uri(), "version": version}
        start = time.perf_counter()
        server.note("textDocument/didChange", {"textDocument": document, "contentChanges": [change]})
        server.published(path.as_uri(), version)
        times.append(time.perf_counter() - start)
    server.close(path)
    return times


def completed(server, path, text):
    server.open(path, text)
    params = {"textDocument": {"uri": path.as_uri()}, "position": {"line": 1, "character": 0}}
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        server.request("textDocument/completion", params)
        times.append(time.perf_counter() - start)
    server.close(path)
    return times


def requested(server, path, text, rounds):
    """Returns the response times of requests in the middle of a text, each after a letter whose
    diagnostics have arrived; none for requests that the server does not support."""
    server.open(path, text)
    lines = text.split("\n")
    line = next(it for it in range(len(lines) // 2, len(lines)) if "](" in lines[it])
    document = {"textDocument": {"uri": path.as_uri()}}
    at = {"line": line, "character": lines[line].index("](") + 4}
    here = {"start": at, "end": at}
    requests = {
        "codeAction": ("textDocument/codeAction", {**document, "range": here, "context": {"diagnostics": []}}),
        "documentLink": ("textDocument/documentLink", document),
        "definition": ("textDocument/definition", {**document, "position": at}),
    }
    times, version = {}, 0
    for name, (method, params) in requests.items():
        if not server.able.get(f"{name}Provider"):
            continue
        times[name] = []
        for _ in range(rounds):
            version += 1
            place = {"line": line + 5, "character": 0}
            lines[line + 5] = "x" + lines[line + 5]
            change = {"range": {"start": place, "end": place}, "text": "x"}
            if not server.takes_parts:
                change = {"text": "\n".join(lines)}
            changed = {"uri": path.as_uri(), "version": version}
            server.note("textDocument/didChange", {"textDocument": changed, "contentChanges": [change]})
            server.published(path.as_uri(), version)
            start = time.perf_counter()
            server.request(method, params)
            times[name].append(time.perf_counter() - start)
    server.close(path)
    return times


def with_keys(text, lines):
    """Returns the text with more lines at the end of its frontmatter."""
    head, rest = text.split("\n---", 1)
    return f"{head}\n{lines}---{rest}"


def sized(skills, size):
    """Returns the skill whose length is closest to `size`."""
    return min(skills, key=lambda it: abs(it.stat().st_size - size))


def measured(command, worktree, skills):
    server = Server(command, worktree)
    rows = {"initialize, ms": f"{server.initialized_in * 1000:.0f}"}
    small, large = sized(skills, 7_500), sized(skills, 33_000)
    for skill in (small, large):
        name = f"change to diagnostics, {skill.stat().st_size / 1000:.1f} KB, p50 / p99 ms"
        rows[name] = middle(typed(server, skill, skill.read_text(), ROUNDS))
    huge = small.read_text() + "A line of some words, and `code` in it.\n" * 26_000
    rows["the same, 1 MB"] = middle(typed(server, small, huge, 20))
    links = "".join(f"Line {it} of [it](references/a{it % 50}.md), and `code`.\n" for it in range(24_000))
    sections = "".join(f"## Section {it}\n\n{part}" for it, part in enumerate(chunks(links, 20)))
    for name, times in requested(server, small, small.read_text() + sections, 20).items():
        rows[f"{name} in 1 MB, after a letter, p50 / p99 ms"] = middle(times)
    for name, value in (("unknown keys", "x"), ("anchors", "&a{} x")):
        keys = "".join(f"unknown-{it}: {value.format(it)}\n" for it in range(500))
        text = with_keys(small.read_text(), keys)
        rows[f"a letter beside 500 {name}, p50 / p99 ms"] = middle(typed(server, small, text, 30))
    rows["completion of a key, p50 / p99 ms"] = middle(completed(server, small, small.read_text()))
    start = time.perf_counter()
    for skill in skills:
        server.send_open(skill, skill.read_text())
    # The answer shows that the server reads on while it checks.
    server.request("textDocument/hover", {"textDocument": {"uri": skills[0].as_uri()}, "position": {"line": 1, "character": 1}})
    rows[f"hover behind {len(skills)} didOpen, ms"] = f"{(time.perf_counter() - start) * 1000:.0f}"
    for skill in skills:
        server.close(skill)
    server.rest()
    silent = 0
    for skill in skills:
        try:
            server.open(skill, skill.read_text())
        except Empty:
            silent += 1
    server.rest()
    published = [server.last.get(it.as_uri(), []) for it in skills]
    found = Counter(str(it.get("code")) for them in published for it in them)
    rows[f"findings in {len(skills)} skills"] = str(found.total())
    rows["resident with all of them open, MiB"] = f"{server.memory():.0f}"
    if silent:
        rows["skills about which nothing was sent"] = str(silent)
    server.end()
    return rows, found


def checked(command, worktree):
    times = []
    for _ in range(7):
        start = time.perf_counter()
        subprocess.run(command, cwd=worktree, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        times.append(time.perf_counter() - start)
    return f"{statistics.median(times) * 1000:.0f}"


def main():
    worktree, skillsd, peers = (pathlib.Path(it) for it in sys.argv[1:])
    skills = sorted(worktree.rglob("SKILL.md"))
    skills = [it for it in skills if it.is_file()]
    servers = {
        "skillsd": [skillsd, "lsp", "--no-daemon"],
        "agnix": [peers / "agnix-lsp"],
        "yaml-language-server": [peers / "yaml-language-server", "--stdio"],
    }
    linters = {"skillsd": [skillsd, "check", "."], "agnix": [peers / "agnix", "."]}
    columns, found = {}, {}
    for name, command in servers.items():
        if not command[0].exists():
            print(f"LEFT OUT: {name}, because there is no {command[0].name}\n")
            continue
        columns[name], found[name] = measured(command, worktree, skills)
        if name in linters:
            columns[name]["check of the worktree, whole process, ms"] = checked(linters[name], worktree)
    names = list(dict.fromkeys(row for rows in columns.values() for row in rows))
    print(f"| | {' | '.join(columns)} |")
    print(f"|---|{'---:|' * len(columns)}")
    for row in names:
        print(f"| {row} | {' | '.join(columns[it].get(row, '–') for it in columns)} |")
    for name, counts in found.items():
        print(f"\n{name}: " + ", ".join(f"{code} {count}" for code, count in counts.most_common()))


main()
