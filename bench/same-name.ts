import { randomBytes } from 'node:crypto'
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { call } from '../test/kit/call.ts'
import { operatorAt } from '../test/kit/operator.ts'
import { startRelay } from '../test/kit/start-relay.ts'
import { startStack } from '../test/kit/start-stack.ts'
import { startUpstream } from '../test/kit/start-upstream.ts'
import { tempFolder } from '../test/kit/temp-folder.ts'
import { until } from '../test/kit/until.ts'

/**
 * `npm run bench -- same-name [--rounds 20] [--rate 40] [--product DIR]`: two hosts with one store and, by mistake, one edge id. In each
 * round the messages of the store stop reaching the second host, an operator kills an agent at the first, and the agent goes on calling
 * through the second. Prints how many receipts said that the kill was complete, how many calls that the agent sent after these were
 * passed (a receipt may be complete: the second host subscribes again after half a lease and then finds the kill), and after any.
 * `--product` is another built source tree.
 */
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '20' },
    rate: { type: 'string', default: '40' },
    product: { type: 'string' },
  },
})
const rounds = Math.min(Number(values.rounds), 1_000)
const pause_ms = 1_000 / Math.min(Number(values.rate), 1_000)
/** Longer than a lease: by then the second host refuses all calls. */
const AFTER_MS = 4_000

const api = await startUpstream((_request, response) => void response.end('ok'))
const env = {
  AGW_EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
  AGW_EDGE_ID: 'same',
  // In 0.1 the second host would replace the token of the first.
  AGW_ADMIN_TOKEN: randomBytes(24).toString('hex'),
}
const first = await startStack(env, values.product)
const relay = await startRelay(first.redisUrl)
const folder = join(tempFolder('second-host'), 'data')
mkdirSync(folder, { mode: 0o700 })
cpSync(join(first.dataDir, 'encryption-key'), join(folder, 'encryption-key'))
const second = await startStack(
  { ...env, AGW_DATA_DIR: folder, REDIS_URL: relay.url },
  values.product,
)
const operator = operatorAt(first.apiUrl, first.adminToken)

interface Round {
  readonly is_complete: boolean
  readonly passed: number
  readonly last_ms: number
}

async function round(): Promise<Round> {
  const access = await operator.makeAccess(`${api.origin}/v1`, {
    integration: { name: `api ${Math.random()}` },
  })
  const send = async (): Promise<number> =>
    (
      await call({
        to: second.proxyUrl,
        path: `/${access.base_url}/x`,
        headers: access.headers,
      }).catch(() => ({ status: 0 }))
    ).status
  await until('the second host passes calls', async () => (await send()) === 200, 60_000)
  relay.set('no_messages')
  const path = `/admin/agents/${access.agent.agent_id}/kill`
  const receipt = await operator.send('POST', path, { reason: 'bench' })
  const answered_ms = performance.now()
  let passed = 0
  let last_ms = 0
  const calls: Promise<void>[] = []
  while (performance.now() - answered_ms < AFTER_MS) {
    const at_ms = performance.now() - answered_ms
    calls.push(
      send().then((status) => {
        if (status !== 200) return
        passed++
        last_ms = Math.max(last_ms, at_ms)
      }),
    )
    await wait(pause_ms)
  }
  await Promise.all(calls)
  relay.set('passes')
  await operator.send(
    'DELETE',
    `/admin/integrations/${access.integration.integration_id}?cascade=true`,
  )
  return { is_complete: receipt.complete === true, passed, last_ms }
}

let complete = 0
let passed = 0
let passed_wrongly = 0
let last_ms = 0
for (let i = 0; i < rounds; i++) {
  const one = await round()
  if (one.is_complete) {
    complete++
    passed_wrongly += one.passed
  }
  passed += one.passed
  last_ms = Math.max(last_ms, one.last_ms)
}
process.stdout.write(
  `${complete} of ${rounds} receipts said complete, and ${passed_wrongly} calls were sent after these and passed; ${passed} after any receipt, the last one ${(last_ms / 1000).toFixed(1)} s after it\n`,
)
await second.stop()
await relay.stop()
await first.stop()
await api.stop()
process.exit(0)
