import { networkInterfaces } from 'node:os'

/** The settings for the address that a program listens on; null if only the port can be set. */
export interface ListenSettings {
  readonly host: string | null
  readonly port: string
}

export interface ListenFailure {
  readonly cause: string
  readonly advice: string
}

/** A machine may have hundreds of addresses; this many are enough as examples. */
const SHOWN_ADDRESSES_MAX = 8

/** Why a program cannot listen, and what to change: the address, the port, or what uses it. */
export function listenFailure(error: unknown, { host, port }: ListenSettings): ListenFailure {
  const message = error instanceof Error ? error.message : String(error)
  const code = codeOf(error, message)
  const otherHost = host ?? port
  switch (code) {
    case 'EADDRINUSE':
      return {
        cause: 'the port is in use',
        advice: `Stop the process that uses it, or set ${port} to another port.`,
      }
    case 'EACCES':
      return {
        cause: 'this user is not allowed to open the port',
        advice: `Set ${port} to 1024 or higher, or allow this user to open lower ports.`,
      }
    case 'EADDRNOTAVAIL':
      return {
        cause: 'this machine does not have the address',
        advice: `Set ${otherHost} to an address of this machine: ${ownAddresses()}.`,
      }
    case 'EAFNOSUPPORT':
      return {
        cause: 'this machine does not support this address family',
        advice: `Set ${otherHost} to an address of this machine: ${ownAddresses()}.`,
      }
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return {
        cause: 'the host name cannot be resolved',
        advice: `Set ${otherHost} to an IP address, or to a name that this machine can resolve.`,
      }
    default:
      return {
        cause: message,
        advice: `Set ${host === null ? port : `${host} and ${port}`} to an address that can be used.`,
      }
  }
}

/** gRPC returns the code only as part of its message. */
function codeOf(error: unknown, message: string): string {
  const { code } = error as { readonly code?: unknown }
  if (typeof code === 'string') return code
  return (
    /\bE(?:ADDRINUSE|ACCES|ADDRNOTAVAIL|AFNOSUPPORT|NOTFOUND|AI_AGAIN)\b/.exec(message)?.[0] ?? ''
  )
}

function ownAddresses(): string {
  const own = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    // A link-local address does not work without the name of its interface.
    .filter(({ scopeid }) => !scopeid)
    .map(({ address }) => address)
  return ['0.0.0.0 (all IPv4)', ':: (all)', ...new Set(own)]
    .slice(0, SHOWN_ADDRESSES_MAX)
    .join(', ')
}
