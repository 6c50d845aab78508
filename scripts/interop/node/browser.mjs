// The interactive flow end to end: the official TypeScript clients, v1 and v2, and the official Python client are given the
// bare URL, and a person in a real Chromium logs in, chooses the dealership and allows less than was asked for. Then the
// client steps up, refreshes across a restart of the server, and is disconnected by the person.
//
//     node browser.mjs FRONTDESK-BINARY PYTHON scripts/interop/browser_client.py [FOLDER-FOR-SCREENSHOTS]

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import path from "node:path";
import readline from "node:readline";
import tls from "node:tls";

import * as v2 from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { chromium } from "playwright-core";

import { Checks, startDesk } from "./desk.mjs";

const [, , binary, python, script, pictures] = process.argv;
const STOCK = "amcp:inventory:read";
const LEADS = "amcp:leads:read";
const DEALERSHIP = "dlr_summit";
const FLAGS = [
  ...["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
  ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
];

const checks = new Checks();
const demo = (port) => (data) => ["demo", "--json", "--listen", `127.0.0.1:${port}`, "--data", data];
const desk = await startDesk(binary, demo(0));
const { endpoint, user } = desk.banner;
const issuer = new URL(endpoint).origin;
tls.setDefaultCACertificates([...tls.getCACertificates("default"), desk.ca]);

/** Where clients are called back; the browser ends there. */
const listener = createServer((_, answer) => answer.setHeader("content-type", "text/plain").end("You can close this."));
await new Promise((done) => listener.listen(0, "127.0.0.1", done));
const callback = `http://127.0.0.1:${listener.address().port}/callback`;

async function part(name, work) {
  try {
    await work();
  } catch (error) {
    checks.fail(name, error);
  }
}

async function interactive(library) {
  const label = (name) => `${library.name}: ${name}`;
  const person = await Person.arrive();
  const memory = new Memory(library.name);
  let client = await library.connect(memory, async (url) => person.authorize(url, [STOCK], library.name));
  checks.equal(label("the login was asked for once"), memory.redirects.length, 1);
  checks.equal(label("it gets what the person allowed"), scopes(memory), [STOCK]);
  const found = await client.callTool({ name: "inventory.search", arguments: { limit: 1 } });
  const [vehicle] = found.structuredContent.items;
  checks.equal(label("a call answers for the chosen dealership"), vehicle.dealership_id, DEALERSHIP);

  // A tool that needs more: 403, a second consent, and nothing lost.
  const listed = await library.stepUp(client, memory, { name: "leads.list", arguments: { limit: 1 } }, async (url) => {
    const asked = new URL(url).searchParams.get("scope").split(" ");
    checks.equal(label("the broader consent asks for what it had, too"), [STOCK, LEADS].every((one) => asked.includes(one)), true);
    return person.authorize(url, [STOCK, LEADS]);
  });
  checks.equal(label("after the broader consent the call answers"), listed.structuredContent.items.length, 1);
  checks.equal(label("and no scope was lost"), scopes(memory), [STOCK, LEADS]);

  await refreshAndRevoke(label, memory, person, async (name) => {
    client = await library.connect(memory, () => Promise.reject(new Error("a login was asked for again")));
    return client.callTool({ name, arguments: { limit: 1 } });
  });
  await person.leave();
}

/** The rest is the same for every client; `call` connects anew and calls a tool, without a person. */
async function refreshAndRevoke(label, memory, person, call) {
  const before = memory.stored.refresh_token;
  checks.equal(label("the server restarts"), await desk.restart(demo(new URL(endpoint).port)), 0);
  // As if it had expired meanwhile; the Python client looks at the time instead.
  memory.stored = { ...memory.stored, access_token: "fdt_expired" };
  const again = await call("leads.list");
  checks.equal(label("a refresh across the restart answers without a login"), again.structuredContent.items.length, 1);
  checks.equal(label("the refresh token has changed"), memory.stored.refresh_token !== before, true);
  checks.equal(label("a refresh keeps the scopes"), scopes(memory), [STOCK, LEADS]);
  const replayed = await refresh(memory.client, before);
  checks.equal(label("the old refresh token is refused"), [replayed.status, replayed.body.error], [400, "invalid_grant"]);
  checks.equal(label("and ends the whole family"), await status(memory.stored.access_token, 1000), 401);

  const next = await person.reconnect(memory);
  checks.equal(label("a new login gets in again"), await status(next.access_token, 0), 200);
  await person.disconnect(memory.name);
  const ended = performance.now();
  checks.equal(label("a grant that was ended on the page is refused"), await status(next.access_token, 1000), 401);
  console.log(`        ${label(`within ${Math.round(performance.now() - ended)} ms`)}`);
  checks.equal(label("within a second"), performance.now() - ended < 1000, true);
  const refused = await refresh(memory.client, next.refresh_token);
  checks.equal(label("and cannot be refreshed"), [refused.status, refused.body.error], [400, "invalid_grant"]);
}

/** The status of a call with this token; repeated until it is refused, for at most so many milliseconds. */
async function status(token, patience) {
  const deadline = performance.now() + patience;
  for (;;) {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
    const answer = await fetch(endpoint, { method: "POST", headers, body });
    await answer.arrayBuffer();
    if (answer.status !== 200 || performance.now() >= deadline) return answer.status;
    await new Promise((done) => setTimeout(done, 20));
  }
}

async function refresh(client, token) {
  const form = { grant_type: "refresh_token", refresh_token: token, client_id: client.client_id, resource: endpoint };
  return post("/token", new URLSearchParams(form));
}

async function post(where, body) {
  const answer = await fetch(`${issuer}${where}`, { method: "POST", body });
  return { status: answer.status, body: await answer.json() };
}

/** Somebody with a browser of their own. */
class Person {
  static async arrive() {
    const person = new Person();
    person.context = await browser.newContext({ viewport: { width: 390, height: 844 } });
    return person;
  }

  /** Logs in if asked to, allows exactly these scopes for the dealership, and gives back what the client is sent. */
  async authorize(url, allowed, name) {
    const page = await this.context.newPage();
    await page.goto(url);
    if (await page.locator("#login").count()) {
      await picture(page, "login");
      await page.fill("#name", user.name);
      await page.fill("#password", user.password);
      await page.click("#submit");
      await page.waitForURL((url) => !url.pathname.startsWith("/login"));
    }
    if (await page.locator("#consent").count()) {
      if (name) {
        checks.equal(`${name}: the page says who asks`, await page.locator("#consent h2").innerText(), `Connect ${name}?`);
        checks.equal(`${name}: and where the answer goes`, await page.locator("#redirect-host").innerText(), "127.0.0.1");
      }
      await page.selectOption("#dealership", DEALERSHIP);
      for (const box of await page.locator("#consent input[type=checkbox]").all()) {
        await box.setChecked(allowed.includes((await box.getAttribute("name")).replace("scope:", "")));
      }
      await picture(page, "consent");
      await page.click("#allow");
    }
    await page.waitForURL((url) => url.href.startsWith(callback));
    const params = new URL(page.url()).searchParams;
    await page.close();
    checks.equal("the answer names its issuer", params.get("iss"), issuer);
    return params;
  }

  /** The same client logs in once more, by hand. */
  async reconnect(memory) {
    const verifier = createHash("sha256").update(Math.random().toString()).digest("hex");
    const challenge = createHash("sha256").update(verifier).digest("base64url");
    const query = new URLSearchParams({
      ...{ response_type: "code", client_id: memory.client.client_id, redirect_uri: callback, resource: endpoint },
      ...{ scope: `${STOCK} ${LEADS}`, state: "again", code_challenge: challenge, code_challenge_method: "S256" },
    });
    const params = await this.authorize(`${issuer}/authorize?${query}`, [STOCK, LEADS]);
    const form = new URLSearchParams({
      ...{ grant_type: "authorization_code", code: params.get("code"), redirect_uri: callback, resource: endpoint },
      ...{ client_id: memory.client.client_id, code_verifier: verifier },
    });
    return (await post("/token", form)).body;
  }

  async disconnect(name) {
    const page = await this.context.newPage();
    await page.goto(`${issuer}/account`);
    const grant = page.locator(".grant", { hasText: name });
    await grant.locator("button").first().click();
    await page.close();
  }

  async leave() {
    await this.context.close();
  }
}

async function picture(page, name) {
  if (pictures) await page.screenshot({ path: path.join(pictures, `${name}.png`), fullPage: true });
}

/** What a client keeps between its requests. */
class Memory {
  redirects = [];

  constructor(name) {
    this.name = name;
  }

  get redirectUrl() {
    return callback;
  }

  get clientMetadata() {
    return {
      ...{ client_name: this.name, redirect_uris: [callback], token_endpoint_auth_method: "none" },
      ...{ grant_types: ["authorization_code", "refresh_token"], response_types: ["code"] },
    };
  }

  clientInformation() {
    return this.client;
  }

  saveClientInformation(client) {
    this.client = client;
  }

  tokens() {
    return this.stored;
  }

  saveTokens(tokens) {
    this.stored = tokens;
  }

  redirectToAuthorization(url) {
    this.redirects.push(url.href);
  }

  saveCodeVerifier(verifier) {
    this.verifier = verifier;
  }

  codeVerifier() {
    return this.verifier;
  }

  /** Version 2 holds the answer of the browser against the server that it began with. */
  saveDiscoveryState(state) {
    this.discovered = state;
  }

  discoveryState() {
    return this.discovered;
  }
}

const scopes = (memory) => memory.stored.scope.split(" ").sort();

function typescriptV1() {
  return typescript("TypeScript v1", {
    transport: (memory) => new TransportV1(new URL(endpoint), { authProvider: memory }),
    client: () => new ClientV1({ name: "interop", version: "1" }),
    finish: (transport, params) => transport.finishAuth(params.get("code")),
    // With a refresh token at hand it answers a 403 by a refresh, which cannot widen, and gives up: an application that steps
    // up with this version has to put the token aside first.
    prepareStepUp: (memory) => (memory.stored = { ...memory.stored, refresh_token: undefined }),
  });
}

function typescriptV2() {
  return typescript("TypeScript v2", {
    transport: (memory) => new v2.StreamableHTTPClientTransport(new URL(endpoint), { authProvider: memory }),
    client: () => new v2.Client({ name: "interop", version: "1" }),
    finish: (transport, params) => transport.finishAuth(params),
    prepareStepUp: () => {},
  });
}

/** Both lines of the SDK say that a login is needed, and go on after `finishAuth`. */
function typescript(name, sdk) {
  let used;
  const finished = async (memory, error, login) => {
    const url = memory.redirects.at(-1);
    if (!url || url === finished.last) throw error;
    finished.last = url;
    await sdk.finish(used, await login(url));
  };
  return {
    name,
    async connect(memory, login) {
      for (;;) {
        const client = sdk.client();
        used = sdk.transport(memory);
        try {
          await client.connect(used);
          return client;
        } catch (error) {
          await finished(memory, error, login);
        }
      }
    },
    async stepUp(client, memory, call, login) {
      sdk.prepareStepUp(memory);
      try {
        await client.callTool(call);
      } catch (error) {
        await finished(memory, error, login);
        return client.callTool(call);
      }
      throw new Error("the call needed no broader consent");
    },
  };
}

/** The Python client runs in a process of its own and says a line when it needs somebody. */
async function pythonClient() {
  const name = "Python";
  const label = (text) => `${name}: ${text}`;
  const person = await Person.arrive();
  const settings = [script, endpoint, desk.banner.ca_file, callback, name];
  const client = spawn(python, settings, { stdio: ["pipe", "pipe", "inherit"] });
  const lines = readline.createInterface({ input: client.stdout })[Symbol.asyncIterator]();
  const memory = new Memory(name);
  let allowed = [STOCK];
  /** The next thing that it says of itself; whatever it needs before that is done. */
  const next = async () => {
    for (;;) {
      const { value, done } = await lines.next();
      if (done) throw new Error("the Python client ended early");
      const said = JSON.parse(value);
      if (said.error) throw new Error(said.error);
      if (!said.authorize) return said;
      memory.redirects.push(said.authorize);
      const params = await person.authorize(said.authorize, allowed, memory.redirects.length === 1 ? name : undefined);
      client.stdin.write(`${params}\n`);
    }
  };
  const found = await next();
  checks.equal(label("a call answers for the chosen dealership"), found.dealership, DEALERSHIP);
  checks.equal(label("it gets what the person allowed"), found.scopes, [STOCK]);
  allowed = [STOCK, LEADS];
  client.stdin.write("step up\n");
  const more = await next();
  const asked = new URL(memory.redirects.at(-1)).searchParams.get("scope").split(" ");
  checks.equal(label("the broader consent asks for what it had, too"), [STOCK, LEADS].every((one) => asked.includes(one)), true);
  checks.equal(label("after the broader consent the call answers"), more.leads, 1);
  checks.equal(label("and no scope was lost"), more.scopes, [STOCK, LEADS]);
  memory.client = more.client;
  memory.stored = more.tokens;
  await refreshAndRevoke(label, memory, person, async () => {
    client.stdin.end("refresh\n");
    const refreshed = await next();
    memory.stored = refreshed.tokens;
    return { structuredContent: { items: Array(refreshed.leads).fill({}) } };
  });
  checks.equal(label("the login was asked for twice"), memory.redirects.length, 2);
  await person.leave();
}

/** Of the certificate that the server shows, as Chromium wants it. */
function publicKeyHash() {
  const { hostname, port } = new URL(endpoint);
  return new Promise((done, fail) => {
    const socket = tls.connect({ host: hostname, port, servername: hostname, ca: desk.ca }, () => {
      const key = socket.getPeerX509Certificate().publicKey.export({ type: "spki", format: "der" });
      socket.end();
      done(createHash("sha256").update(key).digest("base64"));
    });
    socket.once("error", fail);
  });
}

// The browser trusts the key of this server's certificate, and no other unknown one.
const flags = [...FLAGS, `--ignore-certificate-errors-spki-list=${await publicKeyHash()}`];
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: flags });
try {
  for (const library of [typescriptV1(), typescriptV2()]) {
    await part(`${library.name} ran to its end`, () => interactive(library));
  }
  await part("python ran to its end", pythonClient);
} finally {
  await browser.close();
  listener.close();
  checks.equal("the server exits with 0", await desk.close(), 0);
}
process.exit(checks.exitCode());
