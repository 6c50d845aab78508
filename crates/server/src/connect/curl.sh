TOKEN=$(curl -s --cacert {ca_shell} \
  -u {client_id}:"$FRONTDESK_CLIENT_SECRET" \
  -d grant_type=client_credentials -d resource={url} \
  -d {scope_shell} \
  {token_url} | sed -n 's/.*"access_token":"\([^"]*\)".*/\1/p')
curl -s --cacert {ca_shell} \
  -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \
  -d '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' \
  {url}; echo
