import { ownName } from '../terminal/own-name.ts'
import { ECHO_BASE_URL } from './echo-base-url.ts'
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
Try it with the bundled echo API, in another terminal:

${quickstart(parts)}
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

/** What differs from the defaults of the command. */
function quickstart({ apiUrl, echoOrigin, tokenInShell, tokenFile }: Welcome): string {
  const isKept = tokenInShell.startsWith("$(cat '") && tokenFile === USUAL_TOKEN_FILE
  const settings = [
    ...(apiUrl === 'http://127.0.0.1:8081' ? [] : [`AGW_URL=${apiUrl}`]),
    ...(isKept || tokenInShell === '$AGW_TOKEN' ? [] : [`AGW_TOKEN="${tokenInShell}"`]),
  ]
  const base_url = `${echoOrigin}/v1`
  const command = `${ownName(process.env)} quickstart${base_url === ECHO_BASE_URL ? '' : ` ${base_url}`}`
  return `  ${settings.length === 0 ? '' : `export ${settings.join(' ')}; `}${command}\n`
}

/** Commands find it there by themselves. */
const USUAL_TOKEN_FILE = '.agw/admin-token'
