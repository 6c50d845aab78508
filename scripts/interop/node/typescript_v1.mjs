// The server and version 1 of the official TypeScript SDK, which speaks the legacy era only.
//
//     node typescript_v1.mjs FRONTDESK-BINARY

import { ClientCredentialsProvider } from "@modelcontextprotocol/sdk/client/auth-extensions.js";
import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport, StreamableHTTPError } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { OAuthError } from "@modelcontextprotocol/sdk/server/auth/errors.js";
import { McpError } from "@modelcontextprotocol/sdk/types.js";

import { checkClient } from "./client.mjs";

const transports = new WeakMap();

await checkClient({
  name: "v1",
  // Its `fetchToken` takes the scope of the client's metadata only.
  requests: "told",
  eras: ["2025-11-25"],
  async connect(_, url, credentials) {
    const transport = new StreamableHTTPClientTransport(new URL(url), {
      ...(credentials.token
        ? { requestInit: { headers: { Authorization: `Bearer ${credentials.token}` } } }
        : {
            authProvider: new ClientCredentialsProvider({
              clientId: credentials.id,
              clientSecret: credentials.secret,
              scope: credentials.scope,
              expectedIssuer: credentials.issuer,
            }),
          }),
    });
    const client = new Client({ name: "interop", version: "1" });
    await client.connect(transport);
    transports.set(client, transport);
    return client;
  },
  version: (client) => transports.get(client).protocolVersion,
  describe(error) {
    if (error instanceof StreamableHTTPError) return { status: error.code };
    if (error instanceof UnauthorizedError) return { status: 401 };
    if (error instanceof McpError) return { code: error.code, data: error.data };
    if (error instanceof OAuthError) return { oauth: error.errorCode };
    return { code: String(error?.stack ?? error) };
  },
});
