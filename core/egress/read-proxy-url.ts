import { parseUrl } from '../bounded/parse-url.ts'

export interface ProxyUrl {
  /** Without brackets. */
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
}

/** `http://host:port` or `http://user:password@host:port`; user and password are percent-encoded. Null for any other text. */
export function readProxyUrl(text: string): ProxyUrl | null {
  // WHATWG drops the port 80, which must be written here: proxies have different default ports.
  const [, port] = /^http:\/\/(?:[^@/?#\\]*@)?[^@/?#\\]+:(\d{1,5})\/?$/i.exec(text) ?? []
  const url = port === undefined ? null : parseUrl(text)
  if (url === null) return null
  const user = decoded(url.username)
  const password = decoded(url.password)
  // Basic authentication separates the two by the first colon.
  if (user === null || password === null || user.includes(':')) return null
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(port), user, password }
}

function decoded(text: string): string | null {
  try {
    const found = decodeURIComponent(text)
    return /\p{Cc}/u.test(found) ? null : found
  } catch {
    return null
  }
}
