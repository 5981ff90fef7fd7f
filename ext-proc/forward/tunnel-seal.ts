import { createHmac, timingSafeEqual } from 'node:crypto'

/**
 * What a tunnel was opened with: who, and for which host. It is authenticated at CONNECT and travels through Envoy with the
 * tunnel, since another process may decide the requests inside.
 */
export interface TunnelFacts {
  /** Random: no two tunnels are alike, so that Envoy never gives one the connection of another. */
  readonly tunnel_id: string
  readonly organization_id: string
  readonly agent_id: string
  /** SHA-256 of the key. The requests inside look it up again, so that a change of the key is in force at once. */
  readonly key_hash: string
  /** The agent was named with an organization key. */
  readonly is_named: boolean
  /** In the canonical form of `canonicalHost`. */
  readonly host: string
  readonly port: number
}

/** Writes and reads the facts of tunnels. */
export interface TunnelSeal {
  readonly write: (facts: TunnelFacts) => string
  /** Null if the text was not written by a process with the same secret. */
  readonly read: (text: string) => TunnelFacts | null
}

/** Kept tunnels send many requests, one after the other. */
const READ_MAX = 4_096

/**
 * A caller can set neither the header nor the filter state that holds the text; the code of authentication is for an Envoy that
 * was configured wrongly.
 * @param secrets shared by the processes behind one Envoy: the first one writes, all of them read
 */
export function tunnelSeal(secrets: readonly string[]): TunnelSeal {
  const keys = secrets.map((secret) =>
    createHmac('sha256', secret).update('agw forward tunnel').digest(),
  )
  const codesOf = (body: string): Buffer[] =>
    keys.map((key) => createHmac('sha256', key).update(body).digest())
  const known = new Map<string, TunnelFacts>()
  return {
    write: (facts) => {
      const body = Buffer.from(JSON.stringify(facts)).toString('base64url')
      return `${body}.${codesOf(body)[0]?.toString('base64url') ?? ''}`
    },
    read: (text) => {
      const before = known.get(text)
      if (before !== undefined) return before
      const [body = '', code = ''] = text.split('.')
      const given = Buffer.from(code, 'base64url')
      const isOurs = codesOf(body).some(
        (expected) => given.length === expected.length && timingSafeEqual(given, expected),
      )
      if (!isOurs) return null
      const facts = JSON.parse(Buffer.from(body, 'base64url').toString('utf8')) as TunnelFacts
      if (known.size >= READ_MAX) known.clear()
      known.set(text, facts)
      return facts
    },
  }
}
