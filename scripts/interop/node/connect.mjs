// What `frontdesk connect` prints, run exactly as it is printed: by curl, the MCP Inspector, Claude Code, both lines of the
// TypeScript SDK and the Python SDK, and as a desktop client starts it. Nothing of a paste is changed but the secret, which
// no paste contains.
//
//     node connect.mjs FRONTDESK-BINARY PYTHON

import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import https from "node:https";
import { tmpdir } from "node:os";
import path from "node:path";

import { Checks, startDesk, token } from "./desk.mjs";

const [, , binary, python] = process.argv;
const PATIENCE = 120_000;
const STOCK_TOOL = "inventory.search";

const checks = new Checks();
const desk = await startDesk(binary, (data) => ["demo", "--json", "--listen", "127.0.0.1:0", "--data", data]);
const folder = mkdtempSync(path.join(tmpdir(), "frontdesk-connect-"));
const [client] = desk.banner.clients;
// As somebody has it who has just installed Node and these packages; nothing of this machine's own settings.
const environment = {
  PATH: `${path.dirname(process.execPath)}${path.delimiter}${process.env.PATH}`,
  HOME: folder,
  CLAUDE_CONFIG_DIR: path.join(folder, "claude"),
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  DISABLE_AUTOUPDATER: "1",
  FRONTDESK_CLIENT_SECRET: client.secret,
  ...(process.env.npm_config_registry && { npm_config_registry: process.env.npm_config_registry }),
};

try {
  for (const part of [curl, inspector, claudeCode, typescript, typescriptV1, pythonScript, claudeDesktop, others, page]) {
    try {
      await part();
    } catch (error) {
      checks.fail(`${part.name} ran to its end`, error);
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
  checks.equal("the server exits with 0", await desk.close(), 0);
}
process.exit(checks.exitCode());

/** What is printed for a client: the paste and the notes. */
function printed(name, ...args) {
  const wanted = args.length ? args : ["--client", client.id];
  const run = spawnSync(binary, ["connect", name, "--data", desk.banner.data, ...wanted], { encoding: "utf8" });
  checks.equal(`connect ${name}: it exits with 0`, run.status, 0);
  checks.equal(`connect ${name}: no secret is printed`, (run.stdout + run.stderr).includes(client.secret), false);
  return { paste: run.stdout, notes: run.stderr };
}

/** The output of a pasted script; the packages are found from the folder in which this file lies. */
function sh(script, settings = {}) {
  const options = { cwd: import.meta.dirname, env: { ...environment, ...settings }, encoding: "utf8", timeout: PATIENCE };
  const run = spawnSync("sh", ["-c", script], options);
  return `${run.stdout}${run.status === 0 ? "" : `\nexit ${run.status ?? run.signal}: ${run.stderr}`}`;
}

function curl() {
  const { paste } = printed("curl");
  const listed = JSON.parse(sh(paste)).result.tools.map((tool) => tool.name);
  checks.equal("curl: as printed it lists the tools", listed.includes(STOCK_TOOL), true);
  const { paste: site } = printed("curl", "--contract", "emcp", "--client", desk.banner.site.id);
  const pages = JSON.parse(sh(site, { FRONTDESK_CLIENT_SECRET: desk.banner.site.secret })).result.tools;
  checks.equal("curl: and those of another contract", pages.some((tool) => tool.name === "evo.content.search"), true);
}

function inspector() {
  const { paste } = printed("inspector");
  const out = sh(paste);
  checks.equal("inspector: as printed it lists the tools", toolsIn(out).includes(STOCK_TOOL), true);
  if (!toolsIn(out).length) console.log(out);
}

function toolsIn(out) {
  const begin = out.indexOf("{");
  try {
    return JSON.parse(out.slice(begin)).tools.map((tool) => tool.name);
  } catch {
    return [];
  }
}

/** It is not logged in anywhere: the connection check reaches the server, and a token gets in. */
async function claudeCode() {
  const { paste, notes } = printed("claude-code");
  const claude = { PATH: `${path.join(import.meta.dirname, "node_modules", ".bin")}${path.delimiter}${environment.PATH}` };
  const out = sh(paste, claude);
  checks.equal("claude code: it is added", out.includes(`Added HTTP MCP server frontdesk with URL: ${desk.banner.endpoint}`), true);
  const status = out.split("\n").find((line) => line.startsWith("frontdesk: ")) ?? out;
  checks.equal("claude code: the bare URL leads to a login", status.includes("Needs authentication"), true);
  if (!status.includes("Needs authentication")) console.log(status);
  const given = await token(desk, client, "amcp:inventory:read");
  const header = /--header "Authorization: Bearer TOKEN"/.exec(notes)?.[0].replace("TOKEN", given);
  const again = paste.replace(/^claude mcp add .*$/m, (line) => `claude mcp remove frontdesk\n${line} ${header}`);
  checks.equal("claude code: with the header of the notes it connects", sh(again, claude).includes("✔ Connected"), true);
}

function typescript() {
  script("typescript");
}

function typescriptV1() {
  script("typescript-v1");
}

/** The command of the notes, without the installation, which is pinned here. */
function script(name) {
  const { paste, notes } = printed(name);
  const command = / && (.*node agent\.mjs)$/m.exec(notes)[1];
  writeFileSync(path.join(import.meta.dirname, "agent.mjs"), paste);
  const out = sh(command);
  rmSync(path.join(import.meta.dirname, "agent.mjs"));
  checks.equal(`${name}: as printed it lists the tools`, out.split("\n").includes(STOCK_TOOL), true);
  if (!out.includes(STOCK_TOOL)) console.log(out);
}

function pythonScript() {
  const { paste, notes } = printed("python");
  checks.equal("python: the notes say how it is run", notes.includes(" && python3 agent.py"), true);
  writeFileSync(path.join(folder, "agent.py"), paste);
  const options = { env: environment, encoding: "utf8", timeout: PATIENCE };
  const run = spawnSync(python, [path.join(folder, "agent.py")], options);
  checks.equal("python: as printed it lists the tools", run.stdout.split("\n").includes(STOCK_TOOL), true);
  if (run.status !== 0) console.log(run.stderr);
}

/** Started as a desktop client starts it, beside the running server. */
async function claudeDesktop() {
  const { paste } = printed("claude-desktop");
  const entry = JSON.parse(paste.replace("YOUR_SECRET", client.secret)).mcpServers.frontdesk;
  const server = spawn(entry.command, entry.args, { env: { ...entry.env }, stdio: ["pipe", "pipe", "inherit"] });
  const lines = [];
  server.stdout.on("data", (piece) => lines.push(piece));
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "desktop", version: "1" } };
  server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`);
  server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
  server.stdin.end(`${JSON.stringify({ jsonrpc: "2.0", id: 2, method: "tools/list" })}\n`);
  const code = await new Promise((done) => server.once("close", done));
  const answers = Buffer.concat(lines).toString().trim().split("\n").map((line) => JSON.parse(line));
  const tools = answers.find((answer) => answer.id === 2)?.result.tools.map((tool) => tool.name) ?? [];
  checks.equal("claude desktop: its entry starts a session", [code, tools.includes(STOCK_TOOL)], [0, true]);
}

/** Programs that do not run here: what they are given is what their documentation asks for. */
function others() {
  checks.equal("cursor: its file", JSON.parse(printed("cursor").paste), {
    mcpServers: { frontdesk: { url: desk.banner.endpoint } },
  });
  checks.equal("vscode: its file", JSON.parse(printed("vscode").paste), {
    servers: { frontdesk: { type: "http", url: desk.banner.endpoint } },
  });
  const chatgpt = printed("chatgpt");
  checks.equal("chatgpt: its URL", chatgpt.paste, `${desk.banner.endpoint}\n`);
  checks.equal("chatgpt: this one is not reachable, and that is said", chatgpt.notes.includes("not reachable"), true);
}

/** The page has the same texts, with the CA file as it is downloaded from there. */
async function page() {
  const get = (path) =>
    new Promise((done, fail) => {
      const request = https.get(`${new URL(desk.banner.endpoint).origin}${path}`, { ca: desk.ca }, (answer) => {
        let text = "";
        answer.on("data", (piece) => (text += piece));
        answer.on("end", () => done(text));
      });
      request.on("error", fail);
    });
  checks.equal("page: the CA file can be downloaded", await get("/ca.pem"), desk.ca);
  const front = (await get("/")).replaceAll("&quot;", '"').replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
  for (const name of ["claude-code", "cursor", "vscode", "curl", "python", "typescript"]) {
    const paste = printed(name).paste.replaceAll(desk.banner.ca_file, "frontdesk-ca.pem").replaceAll(client.id, "YOUR_CLIENT_ID");
    checks.equal(`page: it has the text of ${name}`, front.includes(paste.trimEnd()), true);
  }
}
