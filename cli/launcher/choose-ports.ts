import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import {
  type ListenFailure,
  listenFailure,
  type ListenSettings,
} from '../../core/system/listen-failure.ts'
import type { Settings } from '../../core/settings/settings.ts'

export interface Ports {
  /** An IP address: Envoy accepts no host name for its listener. */
  readonly proxyHost: string
  readonly proxyPort: number
  readonly apiPort: number
  /** Null: there is no forward proxy. */
  readonly forwardPort: number | null
  readonly echoPort: number
}

const ECHO_HOST = '127.0.0.1'
const ECHO_DEFAULT_PORT = 8082

type Wanted = Pick<
  Settings,
  'proxyHost' | 'proxyPort' | 'apiHost' | 'apiPort' | 'forwardPort' | 'echoPort'
>

/**
 * Checks that the ports are free before anything is started; port 0 is replaced by a free one.
 * @returns the ports, or a message for each that is not available
 */
export async function choosePorts(wanted: Wanted): Promise<Ports | readonly string[]> {
  const { proxyHost, proxyPort, apiHost, apiPort, forwardPort, echoPort } = wanted
  const proxy = await tryPort(proxyHost, proxyPort, PROXY_SETTINGS)
  const api = await tryPort(apiHost, apiPort, API_SETTINGS)
  const forward =
    forwardPort === null ? NO_PORT : await tryPort(proxyHost, forwardPort, FORWARD_SETTINGS)
  const echoWish = await tryPort(ECHO_HOST, echoPort ?? ECHO_DEFAULT_PORT, ECHO_SETTINGS)
  // The default port of the echo API was not requested by a setting, so any free port can be used instead.
  const echo =
    echoWish.kind === 'failed' && echoPort === null
      ? await tryPort(ECHO_HOST, 0, ECHO_SETTINGS)
      : echoWish
  if (
    proxy.kind === 'free' &&
    api.kind === 'free' &&
    forward.kind === 'free' &&
    echo.kind === 'free'
  )
    return {
      proxyHost: proxy.address,
      proxyPort: proxy.port,
      apiPort: api.port,
      forwardPort: forward.port,
      echoPort: echo.port,
    }
  return [
    ...problemOf(proxy, `The proxy listener cannot use ${proxyHost}:${proxyPort}`),
    ...problemOf(api, `The admin service cannot use ${apiHost}:${apiPort}`),
    ...problemOf(forward, `The forward proxy cannot use ${proxyHost}:${forwardPort}`).map(
      (problem) => `${problem} Without agents that need it, set AGW_FORWARD_PORT to off.`,
    ),
    ...problemOf(echo, `The echo API cannot use ${ECHO_HOST}:${echoPort}`),
  ]
}

export const PROXY_SETTINGS: ListenSettings = { host: 'AGW_PROXY_HOST', port: 'AGW_PROXY_PORT' }
export const API_SETTINGS: ListenSettings = { host: 'AGW_API_HOST', port: 'AGW_API_PORT' }
export const FORWARD_SETTINGS: ListenSettings = { host: 'AGW_PROXY_HOST', port: 'AGW_FORWARD_PORT' }
const NO_PORT = { kind: 'free', port: null } as const
const ECHO_SETTINGS: ListenSettings = { host: null, port: 'AGW_ECHO_PORT' }

type TriedPort =
  | { readonly kind: 'free'; readonly address: string; readonly port: number }
  | ({ readonly kind: 'failed' } & ListenFailure)

const problemOf = (tried: TriedPort | typeof NO_PORT, what: string): string[] =>
  tried.kind === 'free' ? [] : [`${what}: ${tried.cause}. ${tried.advice}`]

/** A free port and the resolved address, or why there is none. */
export function tryPort(host: string, port: number, settings: ListenSettings): Promise<TriedPort> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error) => resolve({ kind: 'failed', ...listenFailure(error, settings) }))
    server.listen({ host, port, exclusive: true }, () => {
      const { address, port: chosen } = server.address() as AddressInfo
      server.close(() => resolve({ kind: 'free', address, port: chosen }))
    })
  })
}
