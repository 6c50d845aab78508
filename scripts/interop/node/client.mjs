// What a client library is asked to do, whichever line of the official TypeScript SDK it is: log in by itself over TLS,
// list, call, page through everything, write once, and hand every kind of error on as it was sent.

import { spawnSync } from "node:child_process";
import tls from "node:tls";

import { Judge, openDesk, token } from "./desk.mjs";

const EVERYTHING = "amcp:inventory:read amcp:leads:read amcp:leads:write";
const STOCK = "amcp:inventory:read";
const STOCK_TOOLS = ["inventory.get", "inventory.list", "inventory.search"];
const LEAD_TOOLS = ["leads.create", "leads.get", "leads.list", "leads.update"];
const TOOLS = ["customers.get", "customers.list", ...STOCK_TOOLS, ...LEAD_TOOLS];
const SITE_TOOLS = [
  ...["ancestors", "children", "children_range", "descendants", "get", "neighbors", "next_siblings", "prev_siblings"],
  ...["root_tree", "search", "siblings", "siblings_range"],
].map((name) => `evo.content.${name}`);
const MODEL_TOOLS = ["evo.model.get", "evo.model.list"];
const LEAD = {
  contact: { name: "Dana Rivera", email: "dana.rivera@example.com", phone: "+15125550123" },
  interest: "buy",
  consent: { granted: true, channels: ["email", "sms"] },
};

/**
 * `library` is `{ name, first, eras, connect(era, url, way), version(client), describe(error) }`. Its `first` token has
 * the scopes that were "asked" for, or the "least" ones that the challenge names and which it widens when refused.
 * `way` is a token, or what is needed to log in with client credentials; `describe` says what the library's error still
 * knows: `{ code, data }` of JSON-RPC, the HTTP `status`, or the `oauth` code.
 */
export async function judgeClient(library) {
  const judge = new Judge();
  const desk = await openDesk(process.argv[2], (data) => ["demo", "--json", "--listen", "127.0.0.1:0", "--data", data]);
  try {
    certificate(judge, desk);
    // As NODE_EXTRA_CA_CERTS would, for a desk that did not exist when this process began.
    tls.setDefaultCACertificates([...tls.getCACertificates("default"), desk.ca]);
    for (const era of library.eras) {
      for (const part of [visit, refusals, site]) {
        try {
          await part(judge, library, desk, era);
        } catch (error) {
          judge.stumble(`${era}: ${part.name} ran to its end`, error);
        }
      }
    }
  } finally {
    judge.check("the desk ends in order", await desk.close(), 0);
  }
  process.exit(judge.verdict());
}

/** Node's own verifier, in a process of its own that is told of the authority as users tell it. */
function certificate(judge, desk) {
  const front = `${new URL(desk.card.endpoint).origin}/`;
  const script = `fetch("${front}").then((answer) => answer.status, (error) => error.cause.code).then(console.log)`;
  const said = (settings) => {
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: "", ...settings };
    return spawnSync(process.execPath, ["--eval", script], { env, encoding: "utf8" }).stdout.trim();
  };
  judge.check("Node verifies the certificate", said({ NODE_EXTRA_CA_CERTS: desk.card.ca_file }), "200");
  judge.check("and refuses it without the authority", said({}), "UNABLE_TO_VERIFY_LEAF_SIGNATURE");
}

async function visit(judge, library, desk, era) {
  const say = (name) => `${era}: ${name}`;
  const [{ id, secret, dealership_id: dealership }] = desk.card.clients;
  const issuer = new URL(desk.card.endpoint).origin;
  const client = await library.connect(era, desk.card.endpoint, { id, secret, scope: EVERYTHING, issuer });
  judge.check(say("it logs in by itself and agrees on the version"), library.version(client), era);
  judge.check(say("the server says its name"), client.getServerVersion()?.name, "frontdesk");

  const { tools } = await client.listTools();
  judge.check(say("the tools of its first token are listed"), names(tools), library.first === "least" ? STOCK_TOOLS : TOOLS);

  const first = await call(client, "inventory.search", { make: "Toyota", sort: "price_asc", limit: 4 });
  judge.check(say("a page is as long as asked for"), first.structuredContent.items.length, 4);
  judge.check(say("the text says what the structure says"), JSON.parse(first.content[0].text), first.structuredContent);
  const found = await walk(client, "inventory.search", { make: "Toyota", sort: "price_asc", limit: 4 });
  const every = await walk(client, "inventory.list", { limit: 100 });
  const ids = (items) => items.map((item) => item.id).sort();
  judge.check(say("the stock is whole over all pages, each car once"), [every.length >= 250, new Set(ids(every)).size], [
    true,
    every.length,
  ]);
  judge.check(say("a filtered search finds each match once"), ids(found), ids(every.filter((car) => car.make === "Toyota")));

  const uris = [];
  let cursor;
  do {
    const page = await client.listResources(cursor ? { cursor } : undefined);
    uris.push(...page.resources.map((resource) => resource.uri));
    cursor = page.nextCursor;
  } while (cursor);
  judge.check(say("resources are listed once each, over pages"), [uris.length > 250, new Set(uris).size], [true, uris.length]);
  const uri = uris.find((address) => address.startsWith(`amcp://${dealership}/inventory/`));
  const read = await client.readResource({ uri });
  const told = await call(client, "inventory.get", { id: uri.split("/").at(-1) });
  judge.check(say("a resource is what the tool answers"), JSON.parse(read.contents[0].text), told.structuredContent);

  const order = { ...LEAD, idempotency_key: `judge-${library.name}-${era}` };
  const lead = await call(client, "leads.create", order);
  const again = await call(client, "leads.create", order);
  judge.check(say("a repeated create is one lead"), again.structuredContent, lead.structuredContent);
  const leads = await walk(client, "leads.list", { limit: 50 });
  judge.check(
    say("and there is one lead of it"),
    leads.filter((item) => item.id === lead.structuredContent.id).length,
    1,
  );
  const wider = await client.listTools(undefined, { cacheMode: "refresh" });
  judge.check(say("the token that writes lists every tool"), names(wider.tools), TOOLS);
  const other = await client.callTool({ name: "leads.create", arguments: { ...order, interest: "sell" } });
  judge.check(say("a tool error arrives whole: conflict"), toolError(other), ["request.idempotency_conflict", true, true]);
  const nobody = await client.callTool({ name: "inventory.get", arguments: { id: "veh_nobody" } });
  judge.check(say("a tool error arrives whole: not found"), toolError(nobody), ["inventory.not_found", true, true]);

  const unknown = await failure(library, client.callTool({ name: "inventory.burn", arguments: {} }));
  judge.check(say("a JSON-RPC error keeps its code"), unknown.code, -32602);
  judge.check(say("a JSON-RPC error keeps its data"), Object.keys(unknown.data?.error ?? {}).slice(0, 2), ["code", "message"]);
  const missing = await failure(library, client.readResource({ uri: `amcp://${dealership}/inventory/veh_nobody` }));
  // The code for a missing resource changed with the modern era.
  judge.check(say("an unknown resource is a JSON-RPC error"), missing.code, era < "2026" ? -32002 : -32602);
  judge.check(say("and its data says which kind"), missing.data?.error?.code, "inventory.not_found");
  await client.close();
}

async function refusals(judge, library, desk, era) {
  const say = (name) => `${era}: ${name}`;
  const endpoint = desk.card.endpoint;
  const stranger = await failure(library, library.connect(era, endpoint, { token: "fdt_wrong" }));
  judge.check(say("a wrong token is refused with 401"), stranger.status, 401);
  const [entry] = desk.card.clients;
  const issuer = new URL(endpoint).origin;
  const thief = { id: entry.id, secret: "fds_wrong", scope: STOCK, issuer };
  const refused = await failure(library, library.connect(era, endpoint, thief));
  judge.check(say("a wrong secret is refused as such"), refused.oauth, "invalid_client");

  const weak = await library.connect(era, endpoint, { token: await token(desk, entry, STOCK) });
  const { tools } = await weak.listTools();
  judge.check(say("a weaker token lists fewer tools"), names(tools), STOCK_TOOLS);
  const forbidden = await failure(library, weak.callTool({ name: "leads.list", arguments: {} }));
  judge.check(say("a missing scope is refused with 403"), forbidden.status, 403);
  const still = await call(weak, "inventory.list", { limit: 1 });
  judge.check(say("and the connection lives on"), still.structuredContent.items.length, 1);
  await weak.close();
}

/** The demo's website: another contract at another endpoint, with a client of its own. */
async function site(judge, library, desk, era) {
  const say = (name) => `${era}, site: ${name}`;
  const { endpoint, id, secret } = desk.card.site;
  const way = { id, secret, scope: "mcp:read mcp:call", issuer: new URL(endpoint).origin };
  const client = await library.connect(era, endpoint, way);
  judge.check(say("it logs in by itself and agrees on the version"), library.version(client), era);
  judge.check(say("the server says its name"), client.getServerVersion()?.name, "eMCP Content Server");
  const { tools } = await client.listTools();
  judge.check(say("fourteen tools are listed"), names(tools), [...SITE_TOOLS, ...MODEL_TOOLS]);
  const found = await call(client, "evo.content.search", { limit: 3, with_tvs: ["price"] });
  judge.check(say("a search is as long as asked for"), found.structuredContent.items.length, 3);
  judge.check(say("the text says what the structure says"), JSON.parse(found.content[0].text), found.structuredContent);
  const [first] = found.structuredContent.items;
  const page = await call(client, "evo.content.get", { id: first.id, with_tvs: ["price"] });
  judge.check(say("a page is what the search showed"), page.structuredContent.item, first);
  const wrong = await failure(library, client.callTool({ name: "evo.content.get", arguments: { id: 0 } }));
  judge.check(say("a wrong argument is named"), [wrong.code, wrong.data?.errors?.[0]?.pointer], [-32602, "/id"]);
  const unknown = await failure(library, client.callTool({ name: "evo.content.burn", arguments: {} }));
  judge.check(say("an unknown tool is not found"), unknown.code, -32601);
  await client.close();
}

/** The answer of a call that must succeed; the library has checked it against the tool's schema. */
async function call(client, name, words) {
  const answer = await client.callTool({ name, arguments: words });
  if (answer.isError) throw new Error(`${name} answered ${JSON.stringify(answer.structuredContent)}`);
  return answer;
}

async function walk(client, name, words) {
  const items = [];
  let cursor;
  do {
    const page = (await call(client, name, { ...words, ...(cursor && { cursor }) })).structuredContent;
    items.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor);
  return items;
}

const names = (tools) => tools.map((tool) => tool.name).sort();

function toolError(answer) {
  const error = answer.structuredContent?.error;
  return [error?.code, answer.isError, JSON.stringify(JSON.parse(answer.content[0].text).error) === JSON.stringify(error)];
}

async function failure(library, asked) {
  try {
    await asked;
  } catch (error) {
    return library.describe(error);
  }
  return { code: "no error" };
}
