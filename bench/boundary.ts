import { fork } from 'node:child_process'
import { parseArgs } from 'node:util'
import { fromRoot } from '../core/system/root.ts'
import type { Access } from '../test/kit/operator.ts'
import { startFleet } from '../test/kit/start-fleet.ts'
import type { LoadAnswer } from './load.ts'
import { askLoad } from './start-load.ts'

/**
 * `npm run bench -- boundary [--rate 1000] [--edges 4] [--rounds 5]`: calls at this rate, over all edges, while a scope ends, a scope
 * begins, and a lock ends, on one machine with one clock. A call that was sent at the boundary or later must have the verdict of
 * after, and one that was answered before it the verdict of before; the boundary of what callers see is 250 ms wide at most. Exit code
 * 1 otherwise.
 */
const { values } = parseArgs({
  options: {
    rate: { type: 'string', default: '1000' },
    edges: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '5' },
  },
})
const EDGES = Number(values.edges)
const RATE = Number(values.rate)
const CONNECTIONS_EACH = 16
/** Before the boundary and after it, and until the load has begun. */
const MARGIN_MS = 1_500
const WIDTH_MS = 250

const fleet = await startFleet({ envoys: 'each', edges: Array.from({ length: EDGES }, () => ({})) })
const loads = fleet.edges.map(() => fork(fromRoot('dist', 'bench/load.js')))

interface Kind {
  readonly name: string
  /** What calls are refused with, before or after the boundary. */
  readonly reason: string
  readonly isRefusedBefore: boolean
  readonly set: (access: Access, at: string) => Promise<unknown>
}

const KINDS: readonly Kind[] = [
  {
    name: 'a scope ends',
    reason: 'scope_expired',
    isRefusedBefore: false,
    set: ({ scope_id }, expires_at) =>
      fleet.operator.send('PUT', `/admin/scopes/${scope_id}`, { expires_at }),
  },
  {
    name: 'a scope begins',
    reason: 'scope_not_yet',
    isRefusedBefore: true,
    set: ({ scope_id }, not_before) =>
      fleet.operator.send('PUT', `/admin/scopes/${scope_id}`, { not_before }),
  },
  {
    name: 'a lock ends',
    reason: 'locked',
    isRefusedBefore: true,
    set: ({ agent: { agent_id } }, expires_at) =>
      fleet.operator.send('POST', '/admin/locks', { target: { agent_id }, expires_at }),
  },
]

/** What one edge answered around the boundary; connections are new in each round. */
async function answersAt(edge: number, access: Access): Promise<readonly LoadAnswer[]> {
  const { port } = new URL(fleet.edges[edge]?.url ?? '')
  const request = `GET /${access.base_url}/x HTTP/1.1\r\nhost: bench\r\nauthorization: ${access.headers['authorization']}\r\n\r\n`
  const { answers } = await askLoad(loads[edge] as (typeof loads)[number], {
    port: Number(port),
    connections: CONNECTIONS_EACH,
    calls: Math.round((RATE / EDGES / 1000) * 2 * MARGIN_MS),
    per_second: RATE / EDGES,
    request,
    tells: true,
  })
  return answers
}

let wrong = 0
let wide = 0

async function round({ name, reason, isRefusedBefore, set }: Kind, number: number): Promise<void> {
  const access = await fleet.operator.makeAccess(
    `${fleet.upstream.origin}/${number}${reason.replace('_', '')}`,
    { scope: { rate_limiting: { requests_per_minute: null } } },
  )
  const end_ms = Date.now() + MARGIN_MS + 500
  await set(access, new Date(end_ms).toISOString())
  await new Promise((resolve) => setTimeout(resolve, end_ms - MARGIN_MS - Date.now()))
  const all = (await Promise.all(loads.map((_, edge) => answersAt(edge, access)))).flat()
  const isRefused = ({ status, body }: LoadAnswer): boolean =>
    status === 403 && body.includes(`"${reason}"`)
  const isOld = (one: LoadAnswer): boolean => isRefused(one) === isRefusedBefore
  const other = all.filter((one) => one.status !== 200 && !isRefused(one))
  const old = all.filter(isOld)
  const fresh = all.filter((one) => !isOld(one))
  const late = old.filter(({ sent_ms }) => sent_ms >= end_ms)
  const early = fresh.filter(({ answered_ms }) => answered_ms < end_ms)
  const last_ms = Math.max(...old.map(({ sent_ms }) => sent_ms)) - end_ms
  const first_ms = Math.min(...fresh.map(({ answered_ms }) => answered_ms)) - end_ms
  if (other.length + late.length + early.length > 0) wrong++
  if (last_ms < -WIDTH_MS || first_ms > WIDTH_MS) wide++
  const took_ms = Math.max(...all.map(({ answered_ms }) => answered_ms)) - end_ms + MARGIN_MS
  process.stdout.write(
    `${name}: ${all.length} calls, ${((all.length / took_ms) * 1000).toFixed(0)} a second; sent at the boundary or later with the verdict of before ${late.length}, answered before it with the verdict of after ${early.length}, others ${other.length}; last of before sent at ${last_ms} ms, first of after answered at +${first_ms} ms\n`,
  )
}

try {
  for (let i = 0; i < Number(values.rounds); i++) for (const kind of KINDS) await round(kind, i)
} finally {
  for (const load of loads) load.kill('SIGTERM')
  await fleet.stop()
}
process.stdout.write(`rounds with a wrong verdict ${wrong}, wider than ${WIDTH_MS} ms ${wide}\n`)
process.exit(wrong + wide > 0 ? 1 : 0)
