import { chmodSync, existsSync, lstatSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { listenFailure } from '../../core/system/listen-failure.ts'
import type { Settings } from '../../core/settings/settings.ts'
import type { AdminContext } from '../context/admin-context.ts'
import { buildServer, type ServeElsewhere } from './build-server.ts'

/**
 * Listens on the port, and on Envoy's socket if there is one.
 * @param closes gets what closes them
 * @param forward where requests other than kills go; null: they are served here
 * @returns the port
 * @throws (rejects) with a message for the operator
 */
export async function listenOn(
  context: AdminContext,
  closes: (() => void | Promise<unknown>)[],
  forward: Readonly<Record<'api' | 'envoy', ServeElsewhere>> | null,
): Promise<number> {
  const { settings } = context
  const api = await buildServer(context, 'api', forward?.api ?? null)
  closes.push(() => api.close())
  await listenOnPort(api, settings)
  if (settings.adminSocket !== null) {
    const proxied = await buildServer(context, 'envoy', forward?.envoy ?? null)
    closes.push(() => proxied.close())
    await listenOnSocket(proxied, settings.adminSocket, settings.adminSocketFd)
  }
  return (api.server.address() as AddressInfo).port
}

/** Serves another thread of this process in place of clients. Returns 0, since it has no port. */
export async function listenForGate(
  context: AdminContext,
  closes: (() => void | Promise<unknown>)[],
  sockets: Readonly<Record<'api' | 'envoy', string>>,
): Promise<0> {
  for (const listener of ['api', 'envoy'] as const) {
    const app = await buildServer(context, listener, null)
    closes.push(() => app.close())
    await listenOnSocket(app, sockets[listener])
  }
  return 0
}

async function listenOnPort(app: FastifyInstance, settings: Settings): Promise<void> {
  const { apiHost: host, apiPort: port, apiFd: fd } = settings
  try {
    await app.listen(fd === null ? { host, port } : ({ host, fd } as object))
  } catch (error) {
    const { cause, advice } = listenFailure(error, { host: 'AGW_API_HOST', port: 'AGW_API_PORT' })
    throw new Error(`${host}:${port} cannot be used: ${cause}. ${advice}`)
  }
}

/** What an earlier process left behind would refuse the address; Envoy runs as the same user. */
async function listenOnSocket(
  app: FastifyInstance,
  path: string,
  fd: number | null = null,
): Promise<void> {
  if (fd !== null) {
    // Node does not know the path of an inherited socket, and Fastify logs the address.
    app.server.address = () => path
    return void (await app.listen({ path, fd } as object))
  }
  if (existsSync(path) && lstatSync(path).isSocket()) rmSync(path)
  await app.listen({ path })
  chmodSync(path, 0o600)
}
