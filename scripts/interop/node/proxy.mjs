// A proxy for programs that cannot log in: plain HTTP on loopback, the Authorization header added, and everything else
// forwarded to the server over TLS unchanged. It must never listen anywhere but on loopback.

import http from "node:http";
import https from "node:https";

/** Resolves to `{ port, forwardTo, notes, close }`; until `forwardTo(desk)` every request is answered with 503. */
export async function openProxy() {
  let desk = null;
  const notes = { unknownTools: new Map() };
  const server = http.createServer((request, response) => {
    if (desk === null) return void response.writeHead(503).end();
    const requested = [];
    const headers = { ...request.headers, authorization: `Bearer ${desk.token}` };
    const { hostname, port, pathname } = new URL(desk.endpoint);
    const onward = https.request(
      // The certificate is the server's, whatever host the client pretends to call.
      { hostname, servername: hostname, port, path: pathname, method: request.method, headers, agent: desk.agent },
      (answer) => {
        response.writeHead(answer.statusCode, answer.headers);
        const answered = [];
        answer.on("data", (piece) => (answered.push(piece), response.write(piece)));
        answer.on("end", () => (response.end(), note(notes, requested, answered)));
        answer.on("error", () => response.destroy());
      },
    );
    onward.on("error", () => response.destroy());
    request.on("data", (piece) => (requested.push(piece), onward.write(piece)));
    request.on("end", () => onward.end());
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  return {
    port: server.address().port,
    forwardTo: (opened) => (desk = { ...opened, agent: new https.Agent({ keepAlive: true, ca: opened.ca }) }),
    notes,
    close: () => (server.closeAllConnections(), server.close()),
  };
}

/** Remembers which tools were called that the desk does not have. */
function note(notes, requested, answered) {
  const message = parse(requested);
  if (message?.method !== "tools/call") return;
  const error = parse(answered)?.error;
  const name = message.params?.name;
  if (typeof name === "string" && error?.code === -32602 && /no tool of this name/.test(error.message)) {
    notes.unknownTools.set(name, (notes.unknownTools.get(name) ?? 0) + 1);
  }
}

function parse(pieces) {
  try {
    return JSON.parse(Buffer.concat(pieces).toString("utf8"));
  } catch {
    return null;
  }
}
