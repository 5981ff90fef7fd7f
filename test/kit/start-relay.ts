import { createConnection, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { tempFolder } from './temp-folder.ts'

/**
 * `passes`: as if it were not there · `closed`: connections are closed, and new ones at once · `silent`: connections stay open and
 * nothing comes through until the mode changes, as while a route is down · `no_answers`: what the server sends waits until then ·
 * `no_messages`: answers to commands come through, messages of subscriptions are lost.
 */
export type RelayMode = 'passes' | 'closed' | 'silent' | 'no_answers' | 'no_messages'

export interface KitRelay {
  readonly url: string
  /** From now on, for open connections as well. */
  readonly set: (mode: RelayMode) => void
  /** Closes all connections; new ones are taken, unless the mode is `closed`. */
  readonly closeAll: () => void
  /** Leads new connections elsewhere. */
  readonly leadTo: (unix_url: string) => void
  readonly stop: () => Promise<void>
}

/** Stands between a client of Redis and its server, a Unix socket. `delay_ms` is one way, asked for each piece. */
export async function startRelay(
  unix_url: string,
  delay_ms: () => number = () => 0,
): Promise<KitRelay> {
  const path = join(tempFolder('relay'), 'r.sock')
  let target = unix_url
  let mode: RelayMode = 'passes'
  const sockets = new Set<Socket>()
  const servers = new WeakSet<Socket>()
  const isPaused = (socket: Socket): boolean =>
    mode === 'silent' || (mode === 'no_answers' && servers.has(socket))
  const closeAll = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  const server = createServer((client) => {
    if (mode === 'closed') {
      client.destroy()
      return
    }
    const upstream = createConnection(target.slice('unix://'.length))
    servers.add(upstream)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.once('close', () => sockets.delete(socket))
    }
    client.once('close', () => upstream.destroy())
    upstream.once('close', () => client.destroy())
    forward(client, upstream, delay_ms, (part) => part)
    let begun: Buffer = NOTHING
    forward(upstream, client, delay_ms, (part) => {
      const all = Buffer.concat([begun, part])
      begun = NOTHING
      if (mode !== 'no_messages') return all
      const { passed, rest } = withoutMessages(all)
      begun = rest
      return passed
    })
    for (const socket of [client, upstream]) if (isPaused(socket)) socket.pause()
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))
  return {
    url: `unix://${path}`,
    set: (next) => {
      mode = next
      if (mode === 'closed') closeAll()
      for (const socket of sockets) {
        if (isPaused(socket)) socket.pause()
        else socket.resume()
      }
    },
    closeAll,
    leadTo: (next) => {
      target = next
    },
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      closeAll()
      await closed
    },
  }
}

const NOTHING: Buffer = Buffer.alloc(0)
const MESSAGE = Buffer.from('>3\r\n$7\r\nmessage\r\n')

/** Whole messages only (RESP3): a client whose replies lack a part would read all that follow wrongly. */
function withoutMessages(part: Buffer): { readonly passed: Buffer; readonly rest: Buffer } {
  const passed: Buffer[] = []
  for (let at = 0; ; ) {
    const start = part.indexOf(MESSAGE, at)
    if (start < 0) {
      passed.push(part.subarray(at))
      return { passed: Buffer.concat(passed), rest: NOTHING }
    }
    passed.push(part.subarray(at, start))
    const end = endOfBulk(part, endOfBulk(part, start + MESSAGE.length))
    if (end < 0) return { passed: Buffer.concat(passed), rest: part.subarray(start) }
    at = end
  }
}

/** Where a bulk string ends that begins at `start`: `$<length>\r\n<bytes>\r\n`. -1 where it is not whole. */
function endOfBulk(part: Buffer, start: number): number {
  if (start < 0) return -1
  const line_end = part.indexOf('\r\n', start)
  if (line_end < 0) return -1
  const end = line_end + 2 + Number(part.toString('latin1', start + 1, line_end)) + 2
  return end <= part.length ? end : -1
}

/** Pieces keep their order, whatever their delays. */
function forward(
  from: Socket,
  to: Socket,
  delay_ms: () => number,
  filtered: (part: Buffer) => Buffer,
): void {
  let free_ms = 0
  from.on('data', (whole: Buffer) => {
    const part = filtered(whole)
    if (part.length === 0) return
    const delay = delay_ms()
    const now_ms = performance.now()
    if (delay <= 0 && free_ms <= now_ms) {
      to.write(part)
      return
    }
    free_ms = Math.max(free_ms, now_ms + delay)
    setTimeout(() => to.write(part), free_ms - now_ms)
  })
}
