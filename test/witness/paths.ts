import { readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isOutside, judgeShape } from './judge-shape.ts'
import { OVERRIDE_SERVERS, startWitness, type WitnessServer } from './override-servers.ts'
import type { OverrideShape } from './override-shapes.ts'
import { pathPayloads } from './path-payloads.ts'
import { sendShape } from './send-shape.ts'

/**
 * Sends traversal payloads to real servers, and holds our decision to where they led: what a scope for `GET /items/*`
 * allows must reach one item on each of them. Lists of payloads are files, one per line, `{FILE}` standing for a name.
 *
 *     node cli/prepare.mjs build && node dist/test/witness/paths.js [--all] [LIST ...]
 *
 * Payloads that are refused reach nothing, so they are sent with `--all` alone, to see how many lead elsewhere.
 */
const FOLDER = process.env['AGW_WITNESS_DIR'] ?? join(tmpdir(), 'agw-witness')
const AT_A_TIME = 8
const SHOWN_LIMIT = 20
const NGINX: WitnessServer = {
  name: 'nginx',
  needs: 'apt-get install nginx-light',
  version: () => 'nginx',
  command: (port, folder) => {
    const config = join(folder, 'nginx.conf')
    writeFileSync(
      config,
      `pid ${folder}/nginx.pid; error_log /dev/null; events {}
http { access_log off; client_body_temp_path ${folder}; proxy_temp_path ${folder}; fastcgi_temp_path ${folder};
  uwsgi_temp_path ${folder}; scgi_temp_path ${folder};
  server { listen 127.0.0.1:${port};
    location / { return 200 '{"method":"$request_method","path":"$uri"}'; } } }`,
    )
    return ['nginx', '-p', folder, '-c', config, '-g', 'daemon off;']
  },
}
const NAMES = ['express', 'symfony', 'sinatra', 'flask', 'gorilla', 'spring']

const lists = process.argv.slice(2).filter((word) => word !== '--all')
const payloads = pathPayloads(lists.map((file) => readFileSync(file, 'latin1')))
const shapes = payloads.map(
  (target): OverrideShape => ({ name: target, method: 'GET', target, headers: [], body: '' }),
)
const allowed = shapes.filter((shape) => judgeShape(shape) === 'allowed')
const sent = process.argv.includes('--all') ? shapes : allowed
console.log(`${shapes.length} payloads, ${allowed.length} of them allowed`)
let misses = 0
for (const server of [NGINX, ...OVERRIDE_SERVERS.filter(({ name }) => NAMES.includes(name))]) {
  const outside = await outsideOf(server)
  if (outside === null) {
    console.log(`${server.name.padEnd(10)} is not on this machine: ${server.needs}`)
    continue
  }
  const through = allowed.filter((shape) => outside.has(shape))
  misses += through.length
  console.log(
    `${server.name.padEnd(10)} led ${String(outside.size).padStart(6)} elsewhere; ${through.length} would pass`,
  )
  for (const { target } of through.slice(0, SHOWN_LIMIT)) console.log(`  ${target}`)
}
if (misses > 0) process.exitCode = 1

async function outsideOf(server: WitnessServer): Promise<ReadonlySet<OverrideShape> | null> {
  const running = await startIfThere(server)
  if (running === null) return null
  try {
    const outside = new Set<OverrideShape>()
    const queue = sent.values()
    const work = async (): Promise<void> => {
      for (const shape of queue) {
        const seen = await sendShape(running.port, shape)
        // Routers of some frameworks decode what the request shows as it came.
        const decoded = seen === null ? null : { ...seen, path: decodedOnce(seen.path) }
        if (isOutside(shape, seen) || isOutside(shape, decoded)) outside.add(shape)
      }
    }
    await Promise.all(Array.from({ length: AT_A_TIME }, work))
    return outside
  } finally {
    await running.stop()
  }
}

async function startIfThere(
  server: WitnessServer,
): Promise<Awaited<ReturnType<typeof startWitness>> | null> {
  try {
    server.version()
    return await startWitness(server, FOLDER)
  } catch {
    return null
  }
}

function decodedOnce(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
