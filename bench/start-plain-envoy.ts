import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { findEnvoy } from '../cli/deployment/binaries.ts'
import { readSettings } from '../core/settings/settings.ts'
import { askEnvoy, type KitEnvoy } from '../test/kit/start-envoy.ts'
import { freePort } from '../test/kit/free-port.ts'
import { tempFolder } from '../test/kit/temp-folder.ts'
import { until } from '../test/kit/until.ts'

/** The floor: an Envoy that forwards everything to one upstream, without a processor and without our routes. */
export async function startPlainEnvoy(
  upstream_port: number,
): Promise<Pick<KitEnvoy, 'port' | 'pid' | 'admin' | 'stop'>> {
  const port = await freePort()
  const folder = tempFolder('plain-envoy')
  const file = join(folder, 'envoy.yaml')
  const admin = join(folder, 'admin.sock')
  writeFileSync(file, config(admin, port, upstream_port))
  const read = readSettings(process.env)
  if (!read.ok) throw new Error(read.problems.join('\n'))
  const binary = await findEnvoy(read.settings)
  const child = spawn(
    binary,
    ['-c', file, '--use-dynamic-base-id', '--concurrency', '1', '-l', 'error'],
    { stdio: 'ignore' },
  )
  await until('plain Envoy listens', () => canConnect(port))
  return {
    port,
    pid: child.pid ?? 0,
    admin: (path) => askEnvoy(admin, path),
    stop: async () => {
      const exited = once(child, 'exit')
      child.kill('SIGTERM')
      await exited
    },
  }
}

const canConnect = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })

const config = (admin: string, port: number, upstream_port: number): string => `
admin: { address: { pipe: { path: ${admin} } } }
static_resources:
  listeners:
    - address: { socket_address: { address: 127.0.0.1, port_value: ${port} } }
      filter_chains:
        - filters:
            - name: http
              typed_config:
                "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
                stat_prefix: plain
                route_config:
                  virtual_hosts: [{ name: all, domains: ["*"], routes: [{ match: { prefix: / }, route: { cluster: upstream } }] }]
                http_filters:
                  - name: envoy.filters.http.router
                    typed_config: { "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router }
  clusters:
    - name: upstream
      type: STATIC
      load_assignment:
        cluster_name: upstream
        endpoints: [{ lb_endpoints: [{ endpoint: { address: { socket_address: { address: 127.0.0.1, port_value: ${upstream_port} } } } }] }]
`
