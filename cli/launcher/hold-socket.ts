import { rmSync } from 'node:fs'
import * as net from 'node:net'

/**
 * A bound socket for children that listen on it one after the other, or two at once while one replaces the other. The kernel
 * keeps connections that arrive in between, as with socket activation of systemd.
 * @returns its file descriptor; null if this Node cannot bind without accepting, so that the child has to bind by itself
 */
export function holdSocket(
  address: { readonly host: string; readonly port: number } | { readonly path: string },
): number | null {
  // What node:cluster uses for the same purpose. `net.Server` would accept connections in this process.
  const { _createServerHandle: bind } = net as unknown as { readonly _createServerHandle?: Bind }
  if (typeof bind !== 'function') return null
  if ('path' in address) rmSync(address.path, { force: true })
  const handle =
    'path' in address
      ? bind(address.path, -1, -1)
      : bind(address.host, address.port, net.isIPv6(address.host) ? 6 : 4)
  // An error number: the child binds by itself and says what is wrong.
  if (typeof handle === 'number' || handle.fd < 0) return null
  held.add(handle)
  return handle.fd
}

interface Handle {
  readonly fd: number
}

type Bind = (address: string, port: number, addressType: number) => Handle | number

/** A handle that is collected would close its socket. */
const held = new Set<Handle>()
