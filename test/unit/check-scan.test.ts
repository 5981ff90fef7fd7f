import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { InjectionSettings } from '../../core/catalogue/model.ts'
import { SCOPE_DEFAULTS } from '../../core/catalogue/model.ts'
import { type CallChange, decide, found, toldOf } from './decision-kit.ts'

const KILL = 'kill agt_a auto_injection'
const scanning = (change: Partial<InjectionSettings>): NonNullable<CallChange['scope']> => ({
  injection_detection: { ...SCOPE_DEFAULTS.injection_detection, ...change },
})

test('a blocked finding is reported to the caller, and in full in the log', async () => {
  const { verdict, events } = await decide({ scan: found({ other_findings: 2 }) })
  assert.ok(verdict.kind === 'deny')
  const { details, data } = verdict.denial
  assert.deepEqual(details, {
    pattern_name: 'a_pattern',
    severity: 'critical',
    matched_text: 'ignore all',
    location: 'body.q',
  })
  assert.deepEqual(data, {
    ...details,
    category: 'instruction_override',
    mode: 'block',
    speaker: 'user',
    whitelisted: false,
    pattern: null,
    text_hash: 'org_default sha256:1',
    other_findings: 2,
  })
  assert.ok(!events.some((event) => event.startsWith('kill') || event === 'not in flight'))
})

/** What was found, whether the scope kills for it, and what comes of it. */
const ROWS: readonly (readonly [
  name: string,
  scan: NonNullable<CallChange['scan']>,
  kills: boolean,
  answer: string,
  does: readonly string[],
])[] = [
  ['a critical finding', found({}), true, 'scan: security_block', ['not in flight', KILL]],
  ['one that is not critical', found({ may_kill: false }), true, 'scan: security_block', []],
  ['a scope that does not kill', found({}), false, 'scan: security_block', []],
  [
    'a finding that only alerts',
    found({ outcome: 'detected', may_kill: false }),
    true,
    'forward',
    [],
  ],
  [
    'a finding that is only logged',
    found({ outcome: 'logged', may_kill: false }),
    true,
    'forward',
    [],
  ],
  [
    'a whitelisted finding',
    found({ outcome: 'whitelisted', may_kill: false }),
    true,
    'forward',
    [],
  ],
  ['nothing', found({ outcome: 'clean', may_kill: false, reported: null }), true, 'forward', []],
]

for (const [name, scan, auto_kill_on_critical, answer, does] of ROWS)
  test(`${name}: ${answer}`, async () => {
    const { verdict, events, record } = await decide({
      scan,
      scope: scanning({ auto_kill_on_critical }),
    })
    assert.equal(toldOf(verdict), answer)
    assert.deepEqual(
      events.filter((event) => event === 'not in flight' || event.startsWith('kill')),
      does,
    )
    const isNoted = answer === 'forward' && name !== 'nothing'
    assert.equal(record.facts.data['pattern_name'], isNoted ? 'a_pattern' : undefined)
    assert.equal(record.passed()?.event, isNoted ? 'injection_detected' : 'request_allowed')
  })

test('the call is refused even if the store has rejected the kill', async () => {
  const { verdict } = await decide({
    scan: found({}),
    scope: scanning({ auto_kill_on_critical: true }),
    is_killed: false,
  })
  assert.equal(toldOf(verdict), 'scan: security_block')
})

test('where nothing is scanned nothing is found', async () => {
  const { verdict, steps } = await decide({ scan: found({}), scope: scanning({ enabled: false }) })
  assert.equal(verdict.kind, 'forward')
  assert.ok(!steps.some((step) => step.startsWith('scan')))
})
