import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import type { Settings } from '../../core/settings.ts'

export interface Ports {
  readonly proxyPort: number
  readonly apiPort: number
  readonly echoPort: number
}

const ECHO_HOST = '127.0.0.1'
const ECHO_DEFAULT_PORT = 8082

type Wanted = Pick<Settings, 'proxyHost' | 'proxyPort' | 'apiHost' | 'apiPort' | 'echoPort'>

/**
 * Looks whether the ports are free before anything is started; port 0 becomes a free one.
 * @returns the ports, or a sentence for each that cannot be had
 */
export async function choosePorts(wanted: Wanted): Promise<Ports | readonly string[]> {
  const proxy = await tryPort(wanted.proxyHost, wanted.proxyPort)
  const api = await tryPort(wanted.apiHost, wanted.apiPort)
  const echoWish = await tryPort(ECHO_HOST, wanted.echoPort ?? ECHO_DEFAULT_PORT)
  // Nobody has asked for the default port of the echo API, so another will do.
  const echo =
    typeof echoWish === 'string' && wanted.echoPort === null
      ? await tryPort(ECHO_HOST, 0)
      : echoWish
  const faults = [
    fault(
      proxy,
      `The proxy listener cannot have ${wanted.proxyHost}:${wanted.proxyPort}`,
      'AGW_PROXY_PORT',
    ),
    fault(api, `The admin service cannot have ${wanted.apiHost}:${wanted.apiPort}`, 'AGW_API_PORT'),
    fault(echo, `The echo API cannot have ${ECHO_HOST}:${wanted.echoPort}`, 'AGW_ECHO_PORT'),
  ].filter((text) => text !== null)
  if (typeof proxy === 'string' || typeof api === 'string' || typeof echo === 'string')
    return faults
  return { proxyPort: proxy, apiPort: api, echoPort: echo }
}

function fault(result: number | string, what: string, setting: string): string | null {
  return typeof result === 'number'
    ? null
    : `${what}: ${result}. End what uses it, or set ${setting}.`
}

const CAUSES: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use',
  EACCES: 'this user may not open it',
  EADDRNOTAVAIL: 'this machine does not have the address',
  ENOTFOUND: 'the host name is unknown',
}

/** A port that can be listened on, or why there is none. */
export function tryPort(host: string, port: number): Promise<number | string> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) =>
      resolve(CAUSES[error.code ?? ''] ?? error.message),
    )
    server.listen({ host, port, exclusive: true }, () => {
      const { port: chosen } = server.address() as AddressInfo
      server.close(() => resolve(chosen))
    })
  })
}
