import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { alertOfEntry } from '../../admin/alerts/alert-of-entry.ts'
import { alertView, type StoredAlert } from '../../admin/alerts/alert-view.ts'
import { causesOf } from '../../admin/alerts/alert-causes.ts'
import { floodEntry } from '../../core/activity/flood-entry.ts'
import type { AlertCause } from '../../core/alerts/alert.ts'
import { writeAlert } from '../../core/alerts/write-alert.ts'
import { fromRoot } from '../../core/system/root.ts'
import { activityEntry } from '../kit/activity-entry.ts'
import { repetitions } from '../kit/repetitions.ts'

const { fewNeeds, needsOf } = await import(fromRoot('dist', 'admin', 'console', 'needs-of.js'))

const NOW = new Date('2026-11-28T12:30:00Z')
const INJECTIONS = 10_000
const KINDS = 100
const AGENTS = 28
const SHOWN = 9

/** Open alerts as the store has them: one for each `about`. */
class Alerts {
  readonly #open = new Map<string, Record<string, string>>()

  raise(cause: AlertCause | null, at: Date): void {
    assert.ok(cause)
    const last = { last: JSON.stringify(cause.occurrence), last_at: at.toISOString() }
    const open = this.#open.get(cause.about)
    const { alert_id, about, kind, concern, severity, title, count } = writeAlert(cause, at)
    if (open !== undefined) {
      Object.assign(open, last, { count: String(Number(open['count']) + Number(count)) })
      return
    }
    const first = { status: 'open', count: String(count), first_at: last.last_at }
    const texts = { alert_id, about, kind, concern, severity, title, ...first, ...last }
    this.#open.set(cause.about, texts as Record<string, string>)
  }

  get views() {
    return [...this.#open.values()].map((stored: StoredAlert) => alertView(stored, NOW))
  }
}

const injection = (n: number, decision: 'blocked' | 'allowed', severity: string) =>
  alertOfEntry(
    activityEntry(decision === 'blocked' ? 'injection_blocked' : 'injection_detected', {
      agent_id: `agt_${n % AGENTS}`,
      agent_name: `Agent ${n % AGENTS}`,
      decision,
      data: { mode: 'block', severity, pattern_name: `kind_${n % KINDS}`, location: 'body' },
    }),
  )

const GATEWAY = [
  { about: 'store_disk', kind: 'store_disk', severity: 'critical', title: 'The disk is full.' },
  { about: 'edge_lost e', kind: 'edge_lost', severity: 'critical', title: 'An edge is lost.' },
  {
    about: 'certificate_expiring c',
    kind: 'certificate_expiring',
    severity: 'high',
    title: 'It ends.',
  },
  { about: 'key_expiring k', kind: 'key_expiring', severity: 'medium', title: 'A key ends.' },
  { about: 'token_expiring t', kind: 'token_expiring', severity: 'medium', title: 'A token ends.' },
  { about: 'clock_skew e', kind: 'clock_skew', severity: 'medium', title: 'A clock is wrong.' },
] as const

/** The rows of these, beside one for silent edges and one for failing webhooks. */
const GATEWAY_ROWS = [
  'edges',
  'store_disk',
  'edge_lost',
  'webhooks',
  'certificate_expiring',
  'key_expiring',
  'token_expiring',
  'clock_skew',
]

test('10,000 injections of 100 kinds move nothing of the gateway down, and are counted in full', () => {
  const severity = fc.constantFrom('critical', 'high', 'medium')
  const decision = fc.constantFrom('blocked', 'allowed')
  const plan = fc.record({
    severities: fc.array(severity, { minLength: 1, maxLength: 7 }),
    decisions: fc.array(decision, { minLength: 1, maxLength: 5 }),
    gateway_at: fc.integer({ min: 0, max: INJECTIONS - 1 }),
  })
  fc.assert(
    fc.property(plan, ({ severities, decisions, gateway_at }) => {
      const alerts = new Alerts()
      const counted = { blocked: 0, allowed: 0 }
      for (let n = 0; n < INJECTIONS; n++) {
        const done = decisions[n % decisions.length] as 'blocked'
        counted[done]++
        alerts.raise(
          injection(n, done, severities[n % severities.length] ?? ''),
          new Date(NOW.getTime() - INJECTIONS + n),
        )
        if (n === gateway_at)
          for (const cause of GATEWAY)
            alerts.raise({ ...cause, occurrence: {} }, new Date(NOW.getTime() - 3_600_000))
      }
      const causes = causesOf(alerts.views)
      const parts = {
        silent: 1,
        failing: 1,
        webhooks: [{ name: 'pager' }],
        locks: [],
        asking: ['a'],
        unusual: [{ reason: 'r' }],
      }
      const needs = needsOf({ ...parts, causes })
      for (const rows of [needs, fewNeeds(needs, causes.totals, SHOWN)])
        assert.deepEqual(
          rows.slice(0, GATEWAY_ROWS.length).map(({ key }: { key: string }) => key),
          GATEWAY_ROWS,
        )
      assert.equal(fewNeeds(needs, causes.totals, SHOWN).length <= SHOWN, true)
      const { gateway, agents, handled } = causes.totals
      assert.deepEqual(gateway.kinds, Object.fromEntries(GATEWAY.map(({ kind }) => [kind, 1])))
      assert.deepEqual(
        [agents.occurrences, handled.occurrences],
        [counted.allowed, counted.blocked],
      )
      assert.ok(agents.causes <= KINDS && handled.causes <= KINDS)
      const order = needs.map(({ concern }: { concern: string }) => concern)
      const ranks = order.map((one: string) => ['gateway', 'agents', 'handled'].indexOf(one))
      assert.deepEqual(ranks, ranks.toSorted())
    }),
    { numRuns: repetitions(10) },
  )
})

test('a campaign over 28 agents is one row with its count, and what has passed is never hidden by what was blocked', () => {
  const alerts = new Alerts()
  for (let n = 0; n < AGENTS * KINDS; n += KINDS)
    alerts.raise(injection(n, 'blocked', 'critical'), NOW)
  // The same agent, API and pattern, let through by another scope before and after.
  for (const decision of ['allowed', 'blocked', 'allowed', 'blocked'] as const)
    alerts.raise(injection(0, decision, 'critical'), NOW)
  const { data, totals } = causesOf(alerts.views)
  assert.deepEqual(
    data.map(({ concern, count, title }) => [concern, count, title]),
    [
      ['agents', 2, 'Prompt injection (kind_0) was detected in a request of agent Agent 0.'],
      ['handled', 30, 'Prompt injection (kind_0) was blocked in requests of 7 agents.'],
    ],
  )
  assert.equal(totals.handled.causes, 1)
})

test('more kinds than the list has rows leave what is about the gateway and all totals in it', () => {
  const alerts = new Alerts()
  const blocked = injection(0, 'blocked', 'critical')
  for (let n = 0; n < 1_900; n++)
    alerts.raise(
      { ...blocked!, about: `n ${n}`, occurrence: { pattern_name: `p${n}`, decision: 'blocked' } },
      NOW,
    )
  for (const cause of GATEWAY) alerts.raise({ ...cause, occurrence: {} }, new Date(0))
  const { data, totals } = causesOf(alerts.views)
  assert.equal(data.length, 200)
  assert.deepEqual(
    data.slice(0, GATEWAY.length + 1).map(({ concern }) => concern),
    [...GATEWAY.map(() => 'gateway'), 'handled'],
  )
  assert.equal(totals.handled.causes, 1_900)
})

test('what was only counted in a flood counts too, in one row for all agents', () => {
  const alerts = new Alerts()
  const flood = (n: number, suppressed: number) => {
    const names = { organization_id: 'o', agent_id: `agt_${n}`, agent_name: `Agent ${n}` }
    const counted = { ...names, reason: 'security_block', minute: 29_000_000, suppressed }
    return alertOfEntry(floodEntry(counted, NOW.getTime()))
  }
  alerts.raise(injection(0, 'blocked', 'high'), NOW)
  for (const [n, suppressed] of [
    [0, 500],
    [0, 20],
    [1, 7],
  ] as const)
    alerts.raise(flood(n, suppressed), NOW)
  const { data, totals } = causesOf(alerts.views)
  assert.deepEqual(totals.handled, {
    causes: 2,
    alerts: 3,
    occurrences: 528,
    kinds: { injection: 3 },
  })
  assert.equal(totals.agents.occurrences, 0)
  const row = data.find(({ count }) => count === 527)
  assert.equal(row?.title, 'Prompt injection (only counted) was blocked in requests of 2 agents.')
})
