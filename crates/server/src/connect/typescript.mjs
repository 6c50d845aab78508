import { Client, ClientCredentialsProvider, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const transport = new StreamableHTTPClientTransport(new URL("{url}"), {
  authProvider: new ClientCredentialsProvider({
    clientId: "{client_id}",
    clientSecret: process.env.FRONTDESK_CLIENT_SECRET,
    expectedIssuer: "{issuer}",
  }),
});
const client = new Client({ name: "my-agent", version: "1.0.0" });
await client.connect(transport);
for (const tool of (await client.listTools()).tools) console.log(tool.name);
await client.close();
