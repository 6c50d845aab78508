// The TOMO mounts of the demo and version 1 of the official TypeScript SDK, which is the client that TOMO names: its probe,
// every tool of every intent, and every kind of error, over the oldest version and a later one.
//
//     node tomo.mjs FRONTDESK-BINARY

import { readFileSync } from "node:fs";
import path from "node:path";
import tls from "node:tls";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport, StreamableHTTPError } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { McpError } from "@modelcontextprotocol/sdk/types.js";

import { Checks, startDesk } from "./desk.mjs";

const INTENTS = [
  "auto.book_general_service",
  "food.order_delivery",
  "marketplace.buy_used_car",
  "mobility.book_intracity_ride",
  "travel.book_hotel",
];
const VERSIONS = ["2024-11-05", "2025-11-25"];
const ORDER = ["search", "get_detail", "utility", "create", "track", "modify", "rate", "cancel"];
const intents = path.join(import.meta.dirname, "..", "..", "..", "spec", "tomo", "intents");

const checks = new Checks();
const desk = await startDesk(process.argv[2], (data) => ["demo", "--json", "--listen", "127.0.0.1:0", "--data", data]);
let requests = 0;
try {
  tls.setDefaultCACertificates([...tls.getCACertificates("default"), desk.ca]);
  const mounts = (desk.banner.mounts ?? []).filter((mount) => mount.contract === "tomo");
  checks.equal("the demo names a mount for each intent", mounts.map((mount) => mount.intent).sort(), INTENTS);
  for (const mount of mounts) {
    const file = JSON.parse(readFileSync(path.join(intents, `${mount.intent}.json`), "utf8"));
    for (const version of VERSIONS) {
      for (const part of [probe, calls, tracking, errors]) {
        try {
          await part(mount, file, version);
        } catch (error) {
          checks.fail(`${mount.intent} ${version}: ${part.name} ran to its end`, error);
        }
      }
    }
    await strangers(mount);
  }
} catch (error) {
  checks.fail("the checks ran to their end", error);
} finally {
  checks.equal("the server exits with 0", await desk.close(), 0);
}
process.exit(checks.exitCode());

/** A client that asks for this version, with the status and the media type of each of its answers. */
async function connect(mount, version, bearer = mount.sandbox_bearer) {
  const [statuses, types] = [[], []];
  const transport = new StreamableHTTPClientTransport(new URL(mount.endpoint), {
    requestInit: { headers: { Authorization: `Bearer ${bearer}` } },
    async fetch(url, init) {
      const answer = await fetch(url, init);
      if (init?.method === "POST") {
        statuses.push(answer.status);
        types.push(answer.headers.get("content-type"));
      }
      return answer;
    },
  });
  // The SDK asks for its newest version only; TOMO asks for the oldest.
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    if (message.method === "initialize") message.params.protocolVersion = version;
    return send(message, options);
  };
  const client = new Client({ name: "tomo-orchestrator", version: "1.0.0" });
  await client.connect(transport);
  return { client, transport, statuses, types };
}

/** Steps 1 and 2 of TOMO's probe. */
async function probe(mount, file, version) {
  const label = (name) => `${mount.intent} ${version}: ${name}`;
  const { client, transport } = await connect(mount, version);
  checks.equal(label("the version is agreed on"), transport.protocolVersion, version);
  checks.equal(label("tools are served"), client.getServerCapabilities(), { tools: {} });
  const { tools, nextCursor } = await client.listTools();
  checks.equal(label("the tools are those of the intent"), names(tools), names(file.tools));
  checks.equal(label("in one answer"), nextCursor, undefined);
  for (const tool of tools) {
    const meta = tool._meta?.tomo ?? {};
    const wanted = file.tools.find((one) => one.name === tool.name);
    checks.equal(
      label(`${tool.name} says what it is`),
      [meta.intent, meta.intent_version, meta.tool_role, meta.result_widget, Object.keys(meta).length],
      [mount.intent, file.intent_version, wanted.role, wanted.widget, 8],
    );
    const callback = String(meta.completion_callback).endsWith(`/api/v1/cpc/mcp_provider/${mount.partner_id}`);
    checks.equal(label(`${tool.name} has the partner's callback`), callback, true);
    checks.equal(label(`${tool.name} has an outputSchema from 2025-06-18 on`), "outputSchema" in tool, version >= "2025-06-18");
  }
  await client.close();
}

/** Step 3: every tool with the example of its intent. */
async function calls(mount, file, version) {
  const label = (name) => `${mount.intent} ${version}: ${name}`;
  const { client, statuses, types } = await connect(mount, version);
  // The SDK checks structured answers by the schemas that it was listed.
  await client.listTools();
  const answers = {};
  for (const tool of inOrder(file)) {
    const args = argumentsOf(mount, file, tool, answers);
    const answer = await client.callTool({ name: tool.name, arguments: args });
    const streamed = tool.role === "track" ? "text/event-stream" : "application/json";
    checks.equal(label(`${tool.name} answers as ${streamed}`), types.at(-1), streamed);
    checks.equal(label(`${tool.name} answers one text`), answer.content.map((item) => item.type), ["text"]);
    answers[tool.name] = JSON.parse(answer.content[0].text);
    const structured = version >= "2025-06-18" ? answers[tool.name] : undefined;
    checks.equal(label(`${tool.name} is structured from 2025-06-18 on`), answer.structuredContent, structured);
    checks.equal(
      label(`${tool.name} has the fields of the intent`),
      Object.keys(answers[tool.name]).sort(),
      Object.keys(resolved(file, tool.output).properties).sort(),
    );
    if (tool.role !== "create") continue;
    const again = await client.callTool({ name: tool.name, arguments: args });
    const reference = JSON.parse(again.content[0].text).booking_ref;
    checks.equal(label(`${tool.name} again is the same booking`), reference, answers[tool.name].booking_ref);
    const customer = Object.keys(args).find((name) => args[name]?.name);
    const other = { ...args, [customer]: { ...args[customer], name: "Somebody Else" } };
    await fails(label(`${tool.name} with another body`), client, tool.name, other, -32602, { tomo_error_code: "IDEMPOTENCY_CONFLICT" });
  }
  checks.equal(label("every status is 200, or 202 for a notification"), [...new Set(statuses)].sort(), [200, 202]);
  await client.close();
}

/** Streams of what is tracked: progress for who asks for it, one document for who takes no streams, and not too often. */
async function tracking(mount, file, version) {
  const tool = file.tools.find((one) => one.role === "track");
  if (!tool) return;
  const label = (name) => `${mount.intent} ${version}: ${name}`;
  const { client, transport } = await connect(mount, version);
  await client.listTools();
  const book = async () => {
    const answers = {};
    for (const before of inOrder(file).filter((one) => one.role === "search" || one.role === "create" || one.name === "compute_cart_total")) {
      const answer = await client.callTool({ name: before.name, arguments: argumentsOf(mount, file, before, answers) });
      answers[before.name] = JSON.parse(answer.content[0].text);
    }
    return argumentsOf(mount, file, tool, answers);
  };
  const args = await book();
  const progress = [];
  const answer = await client.callTool({ name: tool.name, arguments: args }, undefined, { onprogress: (made) => progress.push(made) });
  checks.equal(label(`${tool.name} reports its progress once`), progress.length, 1);
  const { progress: done, total, message } = progress[0] ?? {};
  checks.equal(label("as numbers and words"), [done >= 0 && done <= total, typeof message], [true, "string"]);
  const tracked = JSON.parse(answer.content[0].text);
  checks.equal(label("and then answers"), tracked.booking_ref, args.booking_ref);
  await fails(label("again at once is too often"), client, tool.name, args, -32001, { tomo_error_code: "RATE_LIMITED" });
  const unknown = { ...common(mount, file), booking_ref: `somebody-${version}` };
  await fails(label("what is unknown cannot be tracked"), client, tool.name, unknown, -32602, { tomo_error_code: "NOT_FOUND" });
  const plain = await fetch(mount.endpoint, {
    method: "POST",
    headers: {
      Accept: "application/json",
      Authorization: `Bearer ${mount.sandbox_bearer}`,
      "Content-Type": "application/json",
      "MCP-Protocol-Version": transport.protocolVersion,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 7, method: "tools/call", params: { name: tool.name, arguments: await book() } }),
  });
  checks.equal(label("who takes no streams gets one document"), plain.headers.get("content-type"), "application/json");
  checks.equal(label("with the answer"), (await plain.json()).id, 7);
  await client.close();
}

/** The table of §4, as the client hands it on: with HTTP 200, code and data survive. */
async function errors(mount, file, version) {
  const label = (name) => `${mount.intent} ${version}: ${name}`;
  const { client, statuses } = await connect(mount, version);
  const [search] = inOrder(file);
  const detail = file.tools.find((tool) => tool.role === "get_detail") ?? file.tools.find((tool) => tool.role === "track");
  const good = () => argumentsOf(mount, file, search, {});
  const [field] = resolved(file, search.input).required;
  const { [field]: _, ...without } = good();
  const invalid = (tomo_field) => ({ tomo_error_code: "INVALID_REQUEST", ...(tomo_field && { tomo_field }) });
  await fails(label("a missing argument is named"), client, search.name, without, -32602, invalid(field));
  await fails(label("another intent is refused"), client, search.name, { ...good(), intent: "a.b" }, -32602, invalid("intent"));
  await fails(label("an unknown tool is refused"), client, "burn_everything", {}, -32602, invalid());
  const [id] = resolved(file, detail.input).required;
  // Another unknown name than the one of `tracking`: what is tracked twice within seconds is limited, unknown or not.
  const missing = { ...common(mount, file), [id]: `nobody-${version}` };
  await fails(label("what is unknown is not found"), client, detail.name, missing, -32602, { tomo_error_code: "NOT_FOUND" });
  let unknown = {};
  await client.request({ method: "orders/burn", params: {} }, { parse: (value) => value, safeParse: (data) => ({ success: true, data }) }).catch((error) => (unknown = error));
  checks.equal(label("an unknown method is -32601"), [unknown.code, unknown.data], [-32601, { tomo_error_code: "METHOD_NOT_FOUND" }]);
  const session = `limited-${mount.intent}-${version}`;
  let limited = {};
  for (let count = 0; count < 100 && !(limited instanceof McpError); count += 1) {
    const args = { ...good(), user_session_id: session };
    await client.callTool({ name: search.name, arguments: args }).catch((error) => (limited = error));
  }
  checks.equal(label("too many searches are limited"), [limited.code, limited.data], [-32001, { tomo_error_code: "RATE_LIMITED" }]);
  checks.equal(label("errors come with 200"), [...new Set(statuses)].sort(), [200, 202]);
  await client.close();
}

/** 401, of which the SDK keeps the status and the text. */
async function strangers(mount) {
  try {
    await connect(mount, "2024-11-05", "wrong");
    checks.fail(`${mount.intent}: a wrong token is refused`, "it was accepted");
  } catch (error) {
    checks.equal(`${mount.intent}: a wrong token is refused`, [error instanceof StreamableHTTPError, error.code], [true, 401]);
    checks.equal(`${mount.intent}: as INVALID_AUTH`, String(error.message).includes('"tomo_error_code":"INVALID_AUTH"'), true);
  }
}

async function fails(label, client, name, args, code, data) {
  try {
    const answer = await client.callTool({ name, arguments: args });
    checks.fail(label, `it answered ${JSON.stringify(answer)}`);
  } catch (error) {
    checks.equal(label, [error instanceof McpError, error.code, error.data], [true, code, data]);
  }
}

function names(tools) {
  return tools.map((tool) => tool.name).sort();
}

/** By role, but each behind the tools whose answers its example refers to. */
function inOrder(file) {
  const left = [...file.tools].sort((one, other) => ORDER.indexOf(one.role) - ORDER.indexOf(other.role));
  const sorted = [];
  while (left.length > 0) {
    const known = new Set(sorted.map((tool) => tool.name));
    const refers = (tool) => [...JSON.stringify(tool.examples[0]).matchAll(/\{\{(\w+):/g)].map(([, name]) => name);
    const next = left.findIndex((tool) => refers(tool).every((name) => known.has(name)));
    if (next < 0) throw new Error(`the examples of ${left.map((tool) => tool.name)} refer to each other`);
    sorted.push(...left.splice(next, 1));
  }
  return sorted;
}

/** The example with what earlier tools answered, and what TOMO sends with every call. */
function argumentsOf(mount, file, tool, answers) {
  const args = { ...filledIn(tool.examples[0], answers), ...common(mount, file) };
  if ("idempotency_key" in args) args.idempotency_key = `interop-${process.pid}-${requests}`;
  return args;
}

function common(mount, file) {
  requests += 1;
  return {
    intent: mount.intent,
    intent_version: file.intent_version,
    request_id: `req_${requests}`,
    user_session_id: `anon_${requests}`,
    context: {},
  };
}

function filledIn(example, answers) {
  if (Array.isArray(example)) return example.map((item) => filledIn(item, answers));
  if (example && typeof example === "object") {
    return Object.fromEntries(Object.entries(example).map(([name, value]) => [name, filledIn(value, answers)]));
  }
  const [, tool, pointer] = /^\{\{(\w+):(\/.*)\}\}$/.exec(example) ?? [];
  if (!tool) return example;
  return pointer.slice(1).split("/").reduce((value, name) => value[name], answers[tool]);
}

/** A schema, or the definition that it refers to. */
function resolved(file, schema) {
  return schema.$ref ? resolved(file, schema.$ref.slice(2).split("/").reduce((value, name) => value[name], file)) : schema;
}
