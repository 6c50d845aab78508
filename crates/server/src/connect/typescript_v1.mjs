import { ClientCredentialsProvider } from "@modelcontextprotocol/sdk/client/auth-extensions.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const transport = new StreamableHTTPClientTransport(new URL("{url}"), {
  authProvider: new ClientCredentialsProvider({
    clientId: "{client_id}",
    clientSecret: process.env.FRONTDESK_CLIENT_SECRET,
    scope: "{scopes}",
    expectedIssuer: "{issuer}",
  }),
});
const client = new Client({ name: "my-agent", version: "1.0.0" });
await client.connect(transport);
for (const tool of (await client.listTools()).tools) console.log(tool.name);
await client.close();
