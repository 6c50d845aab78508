#!/usr/bin/env python3
"""The server's traces, read with OpenTelemetry's own code.

The official MCP client for Python makes spans with OpenTelemetry's SDK and names them in its messages. A collector made
of nothing but Python's HTTP server keeps what the server posts, and OpenTelemetry's protobuf classes read it strictly: a
name they do not know, or a value of another type, is a failure. Then the two halves of each trace must fit together.

    python3 scripts/interop/traces.py target/debug/frontdesk

Needs `pip install mcp==2.3.0 opentelemetry-sdk==1.45.2 opentelemetry-proto==1.45.2`.
"""

import asyncio
import base64
import json
import ssl
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx2
from google.protobuf import json_format
from mcp import Client
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.client.streamable_http import streamable_http_client
from opentelemetry import trace
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from harness import Checks, TokenStorage, demo, run_checks

ERAS = [("legacy", "2025-11-25"), ("auto", "2026-07-28")]
# Both sides read the clock of one machine, but the server counts whole milliseconds.
TOLERANCE = 5_000_000


class Collector(BaseHTTPRequestHandler):
    posts = []

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        self.posts.append((self.path, self.headers["content-type"], body.decode()))
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        pass


async def converse(banner, mode, version, checks):
    """Calls a tool that answers and one that does not, as any user of the client would."""
    login = ClientCredentialsOAuthProvider(
        server_url=banner["endpoint"],
        storage=TokenStorage(),
        issuer=banner["token_endpoint"].removesuffix("/token"),
        client_id=banner["clients"][0]["id"],
        client_secret=banner["clients"][0]["secret"],
    )
    trust = ssl.create_default_context(cafile=banner["ca_file"])
    async with (
        httpx2.AsyncClient(auth=login, verify=trust, timeout=60) as http,
        Client(streamable_http_client(banner["endpoint"], http_client=http), mode=mode) as client,
    ):
        checks.equal(f"{version}: the version is agreed on", client.protocol_version, version)
        await client.call_tool("inventory.search", {"text": "sunroof", "limit": 1})
        await client.call_tool("inventory.get", {"id": "veh_canary"})


def with_base64_ids(value):
    """OTLP writes ids in hexadecimal, where protobuf's own JSON has base 64."""
    if isinstance(value, list):
        return [with_base64_ids(item) for item in value]
    if not isinstance(value, dict):
        return value
    ids = ("traceId", "spanId", "parentSpanId")
    binary = lambda text: base64.b64encode(bytes.fromhex(text)).decode()  # noqa: E731
    return {name: binary(item) if name in ids else with_base64_ids(item) for name, item in value.items()}


def read(checks):
    """Every span that was posted, as protobuf has it."""
    spans = []
    for path, kind, body in Collector.posts:
        checks.equal("a post goes where OTLP says", (path, kind), ("/v1/traces", "application/json"))
        request = json_format.Parse(json.dumps(with_base64_ids(json.loads(body))), ExportTraceServiceRequest())
        for resource in request.resource_spans:
            names = {attribute.key: attribute.value.string_value for attribute in resource.resource.attributes}
            checks.equal("the resource says what it is", (names["service.name"], "service.version" in names), ("frontdesk", True))
            for scope in resource.scope_spans:
                spans.extend(scope.spans)
    return spans


def valid(span):
    whole = len(span.trace_id) == 16 and len(span.span_id) == 8 and any(span.trace_id) and any(span.span_id)
    return whole and len(span.parent_span_id) in (0, 8) and span.name and span.start_time_unix_nano <= span.end_time_unix_nano


def check_span_pair(checks, theirs, ours, version, tool):
    """The server's span of a call must be a child of the client's."""
    [asked] = [
        span
        for span in theirs
        if tool in span.name and (span.attributes or {}).get("mcp.method.name", "tools/call") == "tools/call"
    ]
    context = asked.get_span_context()
    mine = [span for span in ours if int.from_bytes(span.trace_id, "big") == context.trace_id]
    served = [span for span in mine if int.from_bytes(span.parent_span_id, "big") == context.span_id]
    checks.equal(f"{version}: {tool} is one span under the client's", [span.name for span in served], [f"tools/call {tool}"])
    if not served:
        return
    [span] = served
    checks.equal(f"{version}: {tool} is served", span.kind, Span.SPAN_KIND_SERVER)
    stages = sorted(part.name for part in mine if part.parent_span_id == span.span_id)
    checks.equal(f"{version}: {tool} has its stages", stages, ["identify", "perform", "record"])
    inside = asked.start_time - TOLERANCE <= span.start_time_unix_nano and span.end_time_unix_nano <= asked.end_time + TOLERANCE
    checks.equal(f"{version}: {tool} is served while the client waits", inside, True)
    said = {attribute.key: attribute.value for attribute in span.attributes}
    checks.equal(f"{version}: {tool} says its version", said["mcp.protocol.version"].string_value, version)
    checks.equal(f"{version}: {tool} says its status", said["http.response.status_code"].int_value, 200)
    wrong = said["error.type"].string_value if "error.type" in said else None
    checks.equal(f"{version}: {tool} says how it ended", wrong, {"inventory.get": "inventory.not_found"}.get(tool))


def main() -> int:
    checks = Checks()
    kept = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    trace.set_tracer_provider(provider)
    collector = ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=collector.serve_forever, daemon=True).start()

    def work(binary, folder):
        theirs = {}
        with demo(checks, binary, folder, FRONTDESK_TRACES_ENDPOINT=f"http://127.0.0.1:{collector.server_port}") as banner:
            for mode, version in ERAS:
                kept.clear()
                asyncio.run(converse(banner, mode, version, checks))
                theirs[version] = kept.get_finished_spans()
        ours = read(checks)
        checks.equal("every span is whole", [span.name for span in ours if not valid(span)], [])
        checks.equal("no span has the id of another", len({span.span_id for span in ours}), len(ours))
        for version, spans in theirs.items():
            for tool in ("inventory.search", "inventory.get"):
                check_span_pair(checks, spans, ours, version, tool)
        text = "".join(body for _, _, body in Collector.posts)
        client = banner["clients"][0]
        for word in (client["id"], client["secret"], client["dealership_id"], "veh_canary", "sunroof", "fdt_"):
            checks.equal(f"no span says {word[:4]}…", word in text, False)

    return run_checks(checks, work)


if __name__ == "__main__":
    sys.exit(main())
