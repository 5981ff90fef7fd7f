import { basicPair } from '../../core/request/basic-pair.ts'
import type { Header } from '../../core/request/header.ts'
import { readKey } from '../../core/request/read-key.ts'
import { hashOfKey } from '../call/hash-of-key.ts'

/** What a client of the forward proxy presents in `Proxy-Authorization`. */
export interface ProxyCredentials {
  /** SHA-256 of the key; null if it has not the form of a key. */
  readonly key_hash: string | null
  /** The user name of `Basic`: with an organization key it names the agent. Empty for the other schemes. */
  readonly user: string
}

/** Null without a key; `ambiguous` if the header is there more than once. */
export function proxyCredentials(
  headers: readonly Header[],
): ProxyCredentials | 'ambiguous' | null {
  const lines = headers.filter(({ name }) => name === 'proxy-authorization')
  const renamed = lines.map(({ value }) => ({ name: 'authorization', value }))
  const presented = readKey(renamed, null, [])
  if (presented.kind === 'ambiguous') return 'ambiguous'
  if (presented.kind === 'none') return null
  const text = basicPair(lines[0]?.value ?? '') ?? ''
  return { key_hash: hashOfKey(presented.key), user: text.split(':', 1)[0] ?? '' }
}
