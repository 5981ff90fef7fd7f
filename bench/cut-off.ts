import { cutOff } from '../test/kit/cut-off.ts'
import { startFleet } from '../test/kit/start-fleet.ts'
import { type RelayMode, startRelay } from '../test/kit/start-relay.ts'
import { startValkey } from '../test/kit/start-valkey.ts'
import { endCalls } from './kill-fixture.ts'

const LEASE_MS = Number(process.env['AGW_KILL_LEASE_MS'] ?? 3000)
const MODES = ['closed', 'silent', 'no_messages', 'passes'] as const satisfies readonly RelayMode[]

/** How long an edge that is cut off from its store serves, lets streams run, and needs to come back. */
const valkey = await startValkey()
const relays = await Promise.all(MODES.map(() => startRelay(valkey.url)))
const fleet = await startFleet({
  valkey,
  envoys: 'each',
  edges: relays.map(({ url }) => ({ redis_url: url })),
  env: { AGW_KILL_LEASE_MS: String(LEASE_MS) },
})
try {
  process.stdout.write(`lease ${LEASE_MS} ms\n`)
  for (const [edge, mode] of MODES.entries()) {
    const [living, killed] = await Promise.all(
      ['living', 'killed'].map((name) =>
        fleet.operator.makeAccess(`${fleet.upstream.origin}/${name}-${mode}`),
      ),
    )
    if (living === undefined || killed === undefined) throw new Error('no access was made')
    // The last edge keeps its connections and is stopped itself.
    const isStopped = mode === 'passes'
    const figures = await cutOff(
      fleet,
      edge,
      { living, killed },
      () => (isStopped ? fleet.edges[edge]?.signal('SIGSTOP') : relays[edge]?.set(mode)),
      () => (isStopped ? fleet.edges[edge]?.signal('SIGCONT') : relays[edge]?.set('passes')),
    )
    const ms = (value: number): string => `${value.toFixed(0)} ms`
    process.stdout.write(
      [
        `${isStopped ? 'processor stopped' : `connection ${mode}`}:`,
        `refuses after ${ms(figures.refused_after_ms)},`,
        `streams silent after ${ms(figures.silent_after_ms)},`,
        `serves again ${ms(figures.recovered_after_ms)} after the repair;`,
        `receipt complete ${figures.receipt.complete}, killed agent afterwards ${figures.killed_answer.reason}\n`,
      ].join(' '),
    )
  }
} finally {
  endCalls()
  await fleet.stop()
  for (const relay of relays) await relay.stop()
}
process.exit(0)
