import { parseArgs } from 'node:util'
import { type Lock, type LockTarget, SCOPE_DEFAULTS, SELECTED } from '../core/catalogue/model.ts'
import { decideCall } from '../ext-proc/call/decide-call.ts'
import { beginRecord } from '../ext-proc/record/begin-record.ts'
import { ioOf, openGateway, ORG, type TestGateway } from '../test/unit/decision-kit.ts'
import { aScope } from '../test/unit/policy-kit.ts'

/**
 * `npm run bench -- levers [--rounds 400] [--calls 500] [--levers 50]`: CPU time of the decision of a call whose scope has no selector and
 * no end and which no lock concerns, while its organization has none of these, and while it has as many of each for others. Only what is
 * around the decision is faked, and none of it waits. The two are measured in turn, and beside a second one without levers, which shows
 * what the method sees where there is nothing.
 */
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '400' },
    calls: { type: 'string', default: '500' },
    levers: { type: 'string', default: '50' },
  },
})
const [rounds, calls, levers] = [values.rounds, values.calls, values.levers].map(Number) as [
  number,
  number,
  number,
]
const FAR = '2100-01-01T00:00:00.000Z'
const CALL = {
  method: 'GET',
  body: '',
  auth: { type: 'bearer', token: 'secret' },
  scope: {
    rules: [{ methods: ['*'], paths: ['/**'] }],
    mcp_tools: { allow: [], deny: [] },
    injection_detection: { ...SCOPE_DEFAULTS.injection_detection, enabled: false },
    rate_limiting: { ...SCOPE_DEFAULTS.rate_limiting, requests_per_minute: null },
  },
} as const

/** Scopes by labels that end, and locks, half of them by labels, of other agents. */
function addLevers({ redis }: TestGateway): void {
  const numbers = Array.from({ length: levers }, (_, i) => i)
  redis.scopes.set(
    SELECTED,
    numbers.map((i) =>
      aScope({
        scope_id: `scp_${i}`,
        agent_id: SELECTED,
        agent_selector: { match_labels: { team: `other-${i}` }, match_expressions: [] },
        expires_at: FAR,
      }),
    ),
  )
  for (const i of numbers) {
    const selector = { match_labels: { team: 'other' }, match_expressions: [] }
    const target: LockTarget = i % 2 === 0 ? { agent_id: `agt_${i}` } : { agent_selector: selector }
    const lock: Lock = {
      lock_id: `lck_${i}`,
      organization_id: ORG,
      target,
      mode: 'deny',
      message: null,
      reference: null,
      created_at: FAR,
      created_by: 'ops@example.com',
      created_in: ORG,
      expires_at: FAR,
    }
    redis.locks.set(lock.lock_id, lock)
  }
}

async function measure({ services, headers, note }: TestGateway): Promise<number> {
  const before = process.cpuUsage()
  for (let i = 0; i < calls; i++) {
    const record = beginRecord(headers, 'edge-1', () => 0)
    const verdict = await decideCall(services, headers, ioOf(CALL, note), record)
    if (verdict.kind !== 'forward') throw new Error(JSON.stringify(verdict))
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / calls
}

const open = (): TestGateway => openGateway(CALL, { push: () => 0 } as unknown as string[])
const gateways = { none: open(), again: open(), some: open() }
addLevers(gateways.some)
const spent: Record<keyof typeof gateways, number[]> = { none: [], again: [], some: [] }
const names = Object.keys(spent) as (keyof typeof gateways)[]
for (let round = -20; round < rounds; round++)
  // Each comes first, last and between the others as often.
  for (let i = 0; i < names.length; i++) {
    const name = names[(i + Math.abs(round)) % names.length] ?? 'none'
    const took = await measure(gateways[name])
    if (round >= 0) spent[name].push(took)
  }

const mean = (of: readonly number[]): number => of.reduce((sum, one) => sum + one, 0) / of.length
/** Without the slowest quarter, in which something else was done. */
const trimmed = (of: readonly number[]): readonly number[] =>
  [...of].sort((a, b) => a - b).slice(0, Math.ceil((3 * of.length) / 4))
const average = (name: keyof typeof gateways): number => mean(trimmed(spent[name]))
/** Of the averages of twenty parts of the rounds. */
function errorOf(name: keyof typeof gateways): number {
  const ratios = Array.from({ length: 20 }, (_, part) => {
    const own = (of: keyof typeof gateways): number =>
      mean(trimmed(spent[of].filter((_took, i) => i % 20 === part)))
    return own(name) / own('none')
  })
  const around = ratios.map((one) => (one - mean(ratios)) ** 2)
  return (1.96 * Math.sqrt(mean(around))) / Math.sqrt(ratios.length - 1)
}
const said = (name: keyof typeof gateways): string =>
  `${average(name).toFixed(2)} µs (× ${(average(name) / average('none')).toFixed(4)} ± ${errorOf(name).toFixed(4)}, 95 %)`
process.stdout.write(
  `decision of a call, CPU: without levers ${average('none').toFixed(2)} µs, again without ${said('again')}, with ${levers} scopes by labels that end and as many locks of others ${said('some')}; ${rounds} rounds of ${calls} calls each\n`,
)
