#!/usr/bin/env python3
"""What a create costs on disk: makes a data folder, creates leads with a consent through the server, stops it, and says how
many bytes of the checkpointed database file each create has added, by table and index.

    scripts/bytes_per_create.py target/debug/frontdesk [creates]

Needs Python's sqlite3 with dbstat, and writes only into a temporary folder.
"""

import http.client
import json
import os
import shutil
import signal
import sqlite3
import ssl
import subprocess
import sys
import tempfile
import threading
import urllib.parse

THREADS = int(os.environ.get("THREADS", "4"))


def main():
    binary, creates = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 2000
    folder = tempfile.mkdtemp(prefix="bytes-per-create-")
    data = os.path.join(folder, "data")
    try:
        client = json.loads(subprocess.check_output([
            binary, "client", "add", "--name", "Bench", "--tenant", "acme", "--new-tenant",
            "--scope", "amcp:leads:write", "--scope", "amcp:leads:read", "--data", data, "--json"]))
        # The first server makes tables and certificates, so that only creates are measured.
        with Server(binary, data):
            pass
        before = sizes(data)
        with Server(binary, data) as server:
            token = server.token(client)
            threads = [threading.Thread(target=server.create, args=(token, range(start, creates, THREADS)))
                       for start in range(THREADS)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            log = os.path.getsize(os.path.join(data, "frontdesk.db-wal"))
            written = server.written()
        after = sizes(data)
        made = count(data)
        assert made == creates, f"{made} leads were created"
        report(before, after, creates)
        print(f"{log / 1024:8.0f} KiB of write-ahead log while it runs, whatever the number of creates")
        print(f"{written / creates:8.0f} bytes written for each create, to the log and from there to the file")
    finally:
        shutil.rmtree(folder)


class Server:
    def __init__(self, binary, data):
        env = dict(os.environ, FRONTDESK_LISTEN="127.0.0.1:0", FRONTDESK_OPERATOR_LISTEN="127.0.0.1:0",
                   FRONTDESK_LIMITS_CALLS_PER_MINUTE="1000000", FRONTDESK_LIMITS_BURST="100000",
                   FRONTDESK_MOUNT="automotive=/mcp/automotive", FRONTDESK_LOG_FORMAT="json")
        self.process = subprocess.Popen([binary, "serve", "--data", data], env=env, stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            found = json.loads(line) if line.startswith("{") else {}
            text = json.dumps(found)
            if "https://localhost:" in text:
                self.port = int(text.split("https://localhost:")[1].split("/")[0].split('"')[0])
                break
        threading.Thread(target=self.process.stderr.read, daemon=True).start()
        self.context = ssl.create_default_context()
        self.context.check_hostname, self.context.verify_mode = False, ssl.CERT_NONE

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)

    def written(self):
        with open(f"/proc/{self.process.pid}/io") as file:
            return int(dict(line.split(": ") for line in file)["write_bytes"])

    def connect(self):
        return http.client.HTTPSConnection("localhost", self.port, context=self.context)

    def token(self, client):
        form = urllib.parse.urlencode({
            "grant_type": "client_credentials", "client_id": client["id"],
            "client_secret": client["secret"], "scope": "amcp:leads:write"})
        connection = self.connect()
        connection.request("POST", "/token", form, {"Content-Type": "application/x-www-form-urlencoded"})
        return json.loads(connection.getresponse().read())["access_token"]

    def create(self, token, numbers):
        connection = self.connect()
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
                   "Authorization": f"Bearer {token}"}
        for number in numbers:
            arguments = {
                "contact": {"name": f"Dana Reyes {number}", "email": f"dana{number}@example.com",
                            "phone": f"+1512555{number:04}"},
                "interest": "buy", "comments": f"After six, please, and not on day {number}.",
                "consent": {"granted": True, "channels": ["email", "sms"], "text": "Yes, do call me"},
                "idempotency_key": f"bench-{number}", "dealership_id": "acme"}
            call = {"jsonrpc": "2.0", "id": number, "method": "tools/call",
                    "params": {"name": "leads.create", "arguments": arguments}}
            connection.request("POST", "/mcp/automotive", json.dumps(call), headers)
            answer = json.loads(connection.getresponse().read())
            assert answer["result"]["isError"] is False, answer


def database(data):
    return sqlite3.connect(os.path.join(data, "frontdesk.db"))


def count(data):
    return database(data).execute("SELECT count(*) FROM lead").fetchone()[0]


def sizes(data):
    connection = database(data)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    found = dict(connection.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name"))
    connection.close()
    found["(file)"] = os.path.getsize(os.path.join(data, "frontdesk.db"))
    return found


def report(before, after, creates):
    grown = {name: (after[name] - before.get(name, 0)) / creates for name in after}
    print(f"{grown.pop('(file)'):8.0f} bytes of the file for each of {creates} creates")
    for name, size in sorted(grown.items(), key=lambda pair: -pair[1]):
        if size >= 1:
            print(f"{size:8.0f} {name}")


main()
