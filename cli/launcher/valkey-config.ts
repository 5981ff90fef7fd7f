import { join } from 'node:path'
import type { DataDir } from './data-dir.ts'

/**
 * The embedded Valkey: reachable through a socket of this user only, durable to one second, and without eviction, since it
 * holds the only copy of keys, kills and credentials.
 */
export function valkeyConfig(dataDir: DataDir, memoryLimit_bytes: number): string {
  const lines: readonly (readonly string[])[] = [
    ['port', '0'],
    ['unixsocket', valkeySocket(dataDir)],
    ['unixsocketperm', '600'],
    ['dir', join(dataDir.path, 'valkey')],
    ['appendonly', 'yes'],
    ['appendfsync', 'everysec'],
    ['save', ''],
    ['maxmemory', String(memoryLimit_bytes)],
    ['maxmemory-policy', 'noeviction'],
    ['daemonize', 'no'],
    ['loglevel', 'warning'],
    // Keeps the command line, by which a later start recognizes the process.
    ['set-proc-title', 'no'],
  ]
  return lines.map(([name, value]) => `${name} ${JSON.stringify(value)}\n`).join('')
}

export const valkeySocket = (dataDir: DataDir): string => join(dataDir.sockets, 'valkey.sock')
