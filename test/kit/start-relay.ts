import { createConnection, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { tempFolder } from './temp-folder.ts'

/**
 * `passes`: as if it were not there · `closed`: connections are closed, and new ones at once · `silent`: connections stay open and nothing comes through, as behind a dropped
 * route · `no_messages`: answers to commands come through, messages of subscriptions do not.
 */
export type RelayMode = 'passes' | 'closed' | 'silent' | 'no_messages'

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
  const closeAll = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  const server = createServer((client) => {
    if (mode === 'closed') {
      client.destroy()
      return
    }
    const upstream = createConnection(target.slice('unix://'.length))
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.once('close', () => sockets.delete(socket))
    }
    client.once('close', () => upstream.destroy())
    upstream.once('close', () => client.destroy())
    forward(client, upstream, delay_ms, () => mode !== 'silent')
    forward(
      upstream,
      client,
      delay_ms,
      (part) => mode === 'passes' || (mode === 'no_messages' && !isMessage(part)),
    )
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))
  return {
    url: `unix://${path}`,
    set: (next) => {
      mode = next
      if (mode === 'closed') closeAll()
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

const isMessage = (part: Buffer): boolean => part.includes('$7\r\nmessage\r\n')

/** Pieces keep their order, whatever their delays. */
function forward(
  from: Socket,
  to: Socket,
  delay_ms: () => number,
  passes: (part: Buffer) => boolean,
): void {
  let free_ms = 0
  from.on('data', (part: Buffer) => {
    if (!passes(part)) return
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
