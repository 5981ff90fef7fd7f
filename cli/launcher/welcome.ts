import type { OwnToken } from './find-own-token.ts'

/** The message of a successful start. */
export interface Welcome {
  readonly proxyUrl: string
  readonly apiUrl: string
  /** Null: there is no forward proxy. */
  readonly forwardUrl: string | null
  readonly echoOrigin: string
  readonly token: OwnToken
  /** A shell expression for the token, so that it stays out of the history. */
  readonly tokenInShell: string
  readonly tokenFile: string
}

export function welcome(parts: Welcome): string {
  const token = tokenLines(parts)
  const forward =
    parts.forwardUrl === null
      ? ''
      : `  or they set    HTTPS_PROXY to ${parts.forwardUrl} (agw env AGENT prints all variables)\n`
  return `
The gateway is ready.
  agents call    ${parts.proxyUrl}/https://…
${forward}  operators use  ${parts.apiUrl}  (the console and the admin API)
${token}
Try it with the bundled echo API (paste these commands into another terminal):

${curls(parts)}
Ctrl-C stops everything.
`
}

function tokenLines({ token, tokenFile }: Welcome): string {
  switch (token.kind) {
    case 'known':
      return ''
    case 'new':
      return `  admin token    ${token.token}  (shown only once, stored in ${tokenFile})\n`
    case 'not_used':
      return `  admin token    ${
        token.was_kept
          ? `the token in ${tokenFile} is not valid: it was deleted or replaced`
          : 'the store already has admin tokens, so none was generated'
      }.
                 Use one of them: export AGW_TOKEN=…
                 If all are lost, start with AGW_ADMIN_TOKEN set to a new one (openssl rand -hex 32).
                 It replaces the first token of the deployment.
`
  }
}

/** An agent that may GET below one base URL: one call allowed, one refused, and one refused after a kill. */
function curls({ proxyUrl, apiUrl, echoOrigin, tokenInShell }: Welcome): string {
  const insecure = proxyUrl.startsWith('https:') ? ' -k' : ''
  return `  TOKEN=${tokenInShell}; API=${apiUrl}/admin; BASE=${echoOrigin}/$(date +%s)/v1
  post() { curl -sw '\\n' "$API/$1" -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d "$2"; }
  pick() { node -pe "JSON.parse(require('fs').readFileSync(0)).$1"; }
  CREATED=$(post agents '{"agent_name": "demo"}')
  AGENT=$(echo "$CREATED" | pick agent_id); KEY=$(echo "$CREATED" | pick api_key)
  INTEGRATION=$(post integrations '{"name": "echo", "base_url": "'$BASE'", "auth": {"type": "bearer", "token": "stored-secret-1234"}}' | pick integration_id)
  post scopes '{"name": "read", "agent_id": "'$AGENT'", "integration_id": "'$INTEGRATION'", "rules": [{"methods": ["GET"], "paths": ["/**"]}]}'

  # Allowed: the echo shows the stored credential, not the agent's key.
  curl${insecure} -iw '\\n' ${proxyUrl}/$BASE/hello -H "Authorization: Bearer $KEY"
  # Refused: no scope allows this method.
  curl${insecure} -iw '\\n' -X DELETE ${proxyUrl}/$BASE/hello -H "Authorization: Bearer $KEY"
  # Killed: from now on every call of this agent is refused, everywhere.
  post agents/$AGENT/kill '{"reason": "trying it"}'
  curl${insecure} -iw '\\n' ${proxyUrl}/$BASE/hello -H "Authorization: Bearer $KEY"
`
}
