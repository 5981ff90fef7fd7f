interface FormatRow {
  /** Shown in the console and on the page of the formats. */
  readonly shape: string
  /** Hosts whose SDKs read this shape; proposed there, never set. */
  readonly hosts: RegExp | null
}

/** The values of `error_format` of an integration. */
export const ERROR_FORMATS = {
  gateway: {
    shape: '`{"error", "message", "details", "request_id"}`',
    hosts: null,
  },
  openai: {
    shape: '`{"error": {"message", "type", "code", …}}`',
    hosts:
      /(?:^|\.)(?:openai\.com|openai\.azure\.com|openrouter\.ai|groq\.com|mistral\.ai|deepseek\.com|x\.ai|together\.xyz|fireworks\.ai|perplexity\.ai)$/,
  },
  anthropic: {
    shape: '`{"type": "error", "error": {"type", "message", …}}`',
    hosts: /(?:^|\.)anthropic\.com$/,
  },
  google: {
    shape: '`{"error": {"code", "message", "status", "details"}}`',
    hosts: /(?:^|\.)googleapis\.com$/,
  },
  stripe: {
    shape: '`{"error": {"type", "code", "message", …}}`',
    hosts: /(?:^|\.)stripe\.com$/,
  },
  aws: {
    shape:
      'XML for S3 and the query protocol; else `{"__type", "message", …}` and `X-Amzn-ErrorType`',
    hosts: /(?:^|\.)amazonaws\.com(?:\.cn)?$/,
  },
  jsonrpc: {
    shape: '`{"jsonrpc": "2.0", "id", "error": {"code", "message", "data"}}`',
    hosts: /(?:^|\.)(?:infura\.io|alchemy\.com|quiknode\.pro)$/,
  },
  slack: {
    shape: '`{"ok": false, "error", "message", …}`',
    hosts: /(?:^|\.)slack\.com$/,
  },
  notion: {
    shape: '`{"object": "error", "status", "code", "message", …}`',
    hosts: /(?:^|\.)notion\.com$/,
  },
} as const satisfies Readonly<Record<string, FormatRow>>

export type ErrorFormat = keyof typeof ERROR_FORMATS
export const ERROR_FORMAT_NAMES = Object.keys(ERROR_FORMATS) as readonly ErrorFormat[]

/** The format that the SDKs of this API read; null if none is known. */
export function proposedFormat(base_url: string): ErrorFormat | null {
  const hostname = hostOf(base_url)
  const rows: readonly (readonly [string, FormatRow])[] = Object.entries(ERROR_FORMATS)
  const found = rows.find(([, { hosts }]) => hosts?.test(hostname) === true)
  return (found?.[0] as ErrorFormat | undefined) ?? null
}

/** The host of a base URL, without its port; empty if it has none. */
export const hostOf = (base_url: string): string =>
  /^https?:\/\/([^/:?#]+)/i.exec(base_url)?.[1]?.toLowerCase() ?? ''
