/** The MCP headers of a call, as plain data that can be transferred between threads. */
export interface McpHeaders {
  /** `MCP-Protocol-Version`; this and the next two are null where the header is absent. */
  readonly version: string | null
  readonly method: string | null
  readonly name: string | null
  /** `Mcp-Param-…`, by the lower-case name of the header: each mirrors an argument of a tool. */
  readonly params: ReadonlyMap<string, string>
  /** A repeated header: readers differ in which value they use. */
  readonly repeated: string | null
  /** Whether a header mirrors the body, so that both must match. */
  readonly mirrors: boolean
}

const SMALL_M = 0x6d
const PARAM = 'mcp-param-'
const NAMES: readonly string[] = [
  'mcp-protocol-version',
  'mcp-session-id',
  'mcp-method',
  'mcp-name',
]

/**
 * Null for a request that is not an MCP call. It is one if it has a header of the protocol, or if it is a POST of JSON that
 * accepts both JSON and an event stream, as the protocol requires.
 */
export function readMcpHeaders(
  headers: readonly { readonly name: string; readonly value: string }[],
): McpHeaders | null {
  let http_method = ''
  let accept = ''
  let content_type = ''
  let own: Map<string, string> | null = null
  let repeated: string | null = null
  for (const { name, value } of headers) {
    if (name === ':method') http_method = value
    else if (name === 'accept') accept += `,${value}`
    else if (name === 'content-type') content_type = value
    else if (name.charCodeAt(0) === SMALL_M && name.startsWith('mcp')) {
      // A CGI-like upstream reads `mcp_name` as `mcp-name`.
      const plain = name.replaceAll('_', '-')
      if (!NAMES.includes(plain) && !plain.startsWith(PARAM)) continue
      own ??= new Map()
      if (own.has(plain)) repeated ??= plain
      own.set(plain, value.trim())
    }
  }
  if (own !== null) return headersOf(own, repeated)
  const isMessage =
    http_method === 'POST' &&
    accept.includes('text/event-stream') &&
    accept.includes('application/json') &&
    content_type.includes('json')
  return isMessage ? NO_HEADERS : null
}

function headersOf(own: ReadonlyMap<string, string>, repeated: string | null): McpHeaders {
  const method = own.get('mcp-method') ?? null
  const name = own.get('mcp-name') ?? null
  const params = new Map([...own].filter(([header]) => header.startsWith(PARAM)))
  return {
    version: own.get('mcp-protocol-version') ?? null,
    method,
    name,
    params,
    repeated,
    mirrors: method !== null || name !== null || params.size > 0,
  }
}

const NO_HEADERS: McpHeaders = headersOf(new Map(), null)
