#!/usr/bin/env python3
"""Receives completions as TOMO does, and writes down what came.

It has nothing in common with Frontdesk: it knows only what TOMO publishes about signed webhooks. Every POST must be for
the right path, have a timestamp in milliseconds of the last five minutes, and a signature over "<timestamp>.<raw body>"
with one of the keys. What is wrong is answered 401, what is right 201.

Each request becomes one line of JSON in the output file before it is answered, so that a request whose sender was killed
meanwhile is there as well:

    {"at": 1790000000000, "path": "...", "timestamp": "...", "body": "...", "problem": null, "status": 201}

With --trouble N about N of 100 requests that are right are answered 503, not at all, late, or are long on the way: one
whose sender is gone when it arrives counts as lost and is not written down. Only the standard library is used.

    completion_receiver.py --certificate CERT.pem --key KEY.pem --path /api/v1/cpc/mcp_provider/acme \
        --signing-keys FILE --out FILE [--listen 127.0.0.1:0] [--trouble 20] [--seed 1]
"""

import argparse
import hashlib
import hmac
import http.server
import json
import random
import ssl
import threading
import time

MAX_BODY = 1 << 16
MAX_SKEW_MILLIS = 300_000
TIMEOUT_SECONDS = 60


def problem_of(keys, headers, body):
    """Why a request is not accepted; None if it is."""
    if headers.get_all("Content-Type", []) != ["application/json"]:
        return "the media type is not application/json"
    timestamps = headers.get_all("X-TOMO-Timestamp", [])
    signatures = headers.get_all("X-TOMO-Signature", [])
    if len(timestamps) != 1 or len(signatures) != 1:
        return "timestamp and signature are not there once each"
    timestamp, signature = timestamps[0], signatures[0]
    if not (len(timestamp) == 13 and timestamp.isascii() and timestamp.isdigit()):
        return "the timestamp is not in milliseconds"
    if abs(time.time_ns() // 1_000_000 - int(timestamp)) > MAX_SKEW_MILLIS:
        return "the timestamp is not of the last five minutes"
    signed = timestamp.encode("ascii") + b"." + body
    expected = ["sha256=" + hmac.new(key, signed, hashlib.sha256).hexdigest() for key in keys]
    # Every key is compared, and each in constant time.
    if sum(hmac.compare_digest(signature.encode(), one.encode()) for one in expected) == 0:
        return "the signature is wrong"
    return None


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = TIMEOUT_SECONDS
    # Filled in by main.
    keys, path_expected, out, lock, chance, trouble = [], "", None, threading.Lock(), random.Random(), 0

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > MAX_BODY:
            self.close_connection = True
            return self.send_error(413)
        body = self.rfile.read(int(length))
        with self.lock:
            before, status, after = self.answer()
        time.sleep(before)
        if before and self.is_gone():
            self.close_connection = True
            return
        problem = problem_of(self.keys, self.headers, body)
        if self.path != self.path_expected:
            problem = "the path is another one"
        status = 401 if problem else status
        with self.lock:
            line = {
                "at": time.time_ns() // 1_000_000,
                "path": self.path,
                "timestamp": self.headers.get("X-TOMO-Timestamp"),
                "body": body.decode("utf-8", "backslashreplace"),
                "problem": problem,
                "status": status,
            }
            self.out.write(json.dumps(line) + "\n")
            self.out.flush()
        time.sleep(after)
        if status == 0:
            self.close_connection = True
            return
        text = b'{"error":"SIGNATURE_INVALID"}' if status == 401 else b"{}"
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def answer(self):
        """The status of a request that is right, 0 for none, and the seconds before it counts as received and after."""
        if self.chance.randrange(100) < self.trouble:
            return self.chance.choice([(0, 503, 0), (0, 0, 0), (0, 201, 0.4), (0.4, 201, 0)])
        return 0, 201, 0

    def is_gone(self):
        """Whether the sender has closed the connection: what it sent was then lost on the way."""
        self.connection.settimeout(0.001)
        try:
            return self.connection.recv(1) == b""
        except (TimeoutError, ssl.SSLWantReadError):
            return False
        except OSError:
            return True
        finally:
            self.connection.settimeout(TIMEOUT_SECONDS)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address, tls):
        super().__init__(address, Receiver)
        self.tls = tls

    def finish_request(self, request, client_address):
        # In the thread of the connection: a slow handshake holds up nobody else.
        request.settimeout(TIMEOUT_SECONDS)
        try:
            with self.tls.wrap_socket(request, server_side=True) as secured:
                super().finish_request(secured, client_address)
        except (OSError, ssl.SSLError):
            # The sender was killed or does not trust the certificate.
            pass


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("certificate", "key", "path", "signing-keys", "out"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--listen", default="127.0.0.1:0")
    parser.add_argument("--trouble", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with open(given.signing_keys, "rb") as file:
        Receiver.keys = [line.strip() for line in file if line.strip()]
    if not Receiver.keys:
        parser.error("there is no key to verify signatures with")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.minimum_version = ssl.TLSVersion.TLSv1_2
    tls.load_cert_chain(given.certificate, given.key)
    Receiver.path_expected, Receiver.trouble = given.path, given.trouble
    Receiver.chance = random.Random(given.seed)
    host, port = given.listen.rsplit(":", 1)
    with open(given.out, "a", encoding="utf-8") as Receiver.out:
        server = Server((host, int(port)), tls)
        print(f"port {server.server_address[1]}", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
