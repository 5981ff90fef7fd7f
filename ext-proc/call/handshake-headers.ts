import { randomBytes } from 'node:crypto'
import type { Header } from '../../core/request/header.ts'
import type { HeaderChanges } from '../envoy/write-response.ts'
import type { SocketPlan } from '../verdict/socket-plan.ts'

export const NO_HANDSHAKE: HeaderChanges = { set: [], remove: [] }

const EXTENSIONS = 'sec-websocket-extensions'
const KEY = 'sec-websocket-key'
const KEY_BYTES = 16

/** What a handshake needs besides the headers of any call. */
export function handshakeHeaders(
  headers: readonly Header[],
  { judge }: Pick<SocketPlan, 'judge'>,
): HeaderChanges {
  const has = (wanted: string): boolean => headers.some(({ name }) => name === wanted)
  const isScanned = judge.client !== null || judge.api !== null
  return {
    set: [
      // Headers that the caller names in `Connection` are not sent, so neither are their names.
      { name: 'connection', value: 'Upgrade' },
      // A client of HTTP/2 sends none (RFC 8441), and an API that speaks HTTP/1.1 needs one.
      ...(has(KEY) ? [] : [{ name: KEY, value: randomBytes(KEY_BYTES).toString('base64') }]),
    ],
    // Compressed messages could not be read.
    remove: isScanned && has(EXTENSIONS) ? [EXTENSIONS] : [],
  }
}
