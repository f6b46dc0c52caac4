"""Runs skillsd under systemd-socket-activate and acts as its service manager.

It listens on the notification socket and checks that the first connection starts the daemon, and
that the daemon answers, reports readiness, sends watchdog messages, reports stopping, and leaves the
socket to the manager. Every step waits for an event, with a deadline.
"""

import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time

TIMEOUT = 60
WATCHDOG_USEC = 400_000
SKILL = "---\nname: deploy\ndescription: Deploys to staging. Use it before a release.\n---\n\n# Deploy\n"


class Manager:
    """The service manager's side of the notification socket."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(path))
        self.heard = []

    def hear_until(self, is_enough, what):
        """Receives notifications until `is_enough` returns true."""
        deadline = time.monotonic() + TIMEOUT
        while not is_enough(self.heard):
            self.socket.settimeout(max(deadline - time.monotonic(), 0.001))
            try:
                self.heard += self.socket.recv(4096).decode().split()
            except TimeoutError:
                sys.exit(f"{what} was not received within {TIMEOUT} s, but {self.heard}")
        print(f"received: {what}")


def connect(path, process):
    """Connects as soon as the socket has a listener."""
    deadline = time.monotonic() + TIMEOUT
    while True:
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(TIMEOUT)
        try:
            client.connect(str(path))
            return client
        except (FileNotFoundError, ConnectionRefusedError) as error:
            client.close()
            if process.poll() is not None or time.monotonic() > deadline:
                sys.exit(f"no listener at {path}: {error}")
            time.sleep(0.01)


def ask(client, method, params):
    """Makes one call with line framing and returns its result."""
    call = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    client.sendall(json.dumps(call).encode() + b"\n")
    answer = json.loads(client.makefile().readline() or "null")
    if not answer or "result" not in answer:
        sys.exit(f"{method} was answered with {answer}")
    return answer["result"]


def drive(program, top):
    """Runs the daemon once, from activation to exit."""
    run, home = top / "run", top / "home"
    run.mkdir(mode=0o700)
    # Created like the socket unit does, with its DirectoryMode.
    (run / "skillsd").mkdir(mode=0o700)
    worktree = home / "worktree"
    skill = worktree / ".claude" / "skills" / "deploy"
    skill.mkdir(parents=True)
    (worktree / ".git").mkdir()
    (skill / "SKILL.md").write_text(SKILL)
    manager = Manager(run / "notify")
    listening = run / "skillsd" / "v1.sock"
    environment = {
        "HOME": str(home),
        "XDG_RUNTIME_DIR": str(run),
        "NOTIFY_SOCKET": str(run / "notify"),
        "WATCHDOG_USEC": str(WATCHDOG_USEC),
    }
    command = ["systemd-socket-activate", "-l", str(listening)]
    for name, value in environment.items():
        command += ["-E", f"{name}={value}"]
    process = subprocess.Popen([*command, program, "serve"], env={"PATH": os.environ["PATH"]})
    try:
        live(process, manager, listening, worktree)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


def live(process, manager, listening, worktree):
    """Checks the daemon's notifications and answers in order."""
    client = connect(listening, process)
    manager.hear_until(lambda heard: "READY=1" in heard, "READY=1")
    manager.hear_until(lambda heard: heard.count("WATCHDOG=1") >= 3, "WATCHDOG=1, three times")
    if manager.heard[0] != "READY=1" or "STOPPING=1" in manager.heard:
        sys.exit(f"unexpected order: {manager.heard}")
    listed = ask(client, "skills/list", {"cwd": str(worktree)})
    names = [it["name"] for it in listed["skills"]]
    if names != ["deploy"]:
        sys.exit(f"the list is {names}")
    print("the first client is answered")
    inode = listening.stat().st_ino
    process.send_signal(signal.SIGTERM)
    manager.hear_until(lambda heard: "STOPPING=1" in heard, "STOPPING=1")
    code = process.wait(TIMEOUT)
    if code != 0:
        sys.exit(f"the daemon ended with {code}")
    # The daemon must not remove the manager's socket.
    if listening.stat().st_ino != inode:
        sys.exit("the socket was replaced")
    print("the socket stays")


def main():
    """Runs it in a directory that is removed."""
    with tempfile.TemporaryDirectory() as top:
        drive(sys.argv[1], pathlib.Path(top))


main()
