import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { alertOfEntry } from '../../admin/alerts/alert-of-entry.ts'
import {
  matchesFilter,
  rawText,
  readFilter,
  WRITTEN_AFTER_MAX_MS,
} from '../../admin/activity/activity-filter.ts'
import { csvLine } from '../../admin/activity/csv-line.ts'
import { fairLimit } from '../../admin/activity/log-budget.ts'
import { mintActivityId, timeOfActivityId } from '../../core/activity/activity-id.ts'
import { requestHash } from '../../core/activity/request-hash.ts'
import { activityEntry } from '../kit/activity-entry.ts'

test('threat 25: a cell of the CSV export is never a formula, and is read back as it was', () => {
  const unquoted = (line: string): string =>
    line.startsWith('"') ? line.slice(1, -3).replaceAll('""', '"') : line.slice(0, -2)
  fc.assert(
    fc.property(fc.string(), (text) => {
      const cell = unquoted(csvLine([text]))
      assert.ok(!/^[=+\-@\t\r]/.test(cell))
      assert.ok(cell === text || cell === `'${text}`)
    }),
  )
  for (const text of ['=1+1', '+1', '-1', '@a', '\tx', '\rx'])
    assert.ok(unquoted(csvLine([text])).startsWith("'"), JSON.stringify(text))
  assert.equal(csvLine(['a,b', 'c"d', 'e\nf', 'g']), '"a,b","c""d","e\nf",g\r\n')
})

test('an id of an entry says when it was made', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 47 }), (ms) => {
      assert.equal(timeOfActivityId(mintActivityId(ms)), ms)
    }),
  )
  fc.assert(
    fc.property(fc.string(), (text) => {
      const ms = timeOfActivityId(text)
      assert.ok(ms === null || Number.isSafeInteger(ms))
    }),
  )
})

const filterOf = (query: Parameters<typeof readFilter>[0]) => {
  const read = readFilter(query)
  if (!read.ok) throw new Error(JSON.stringify(read.issues))
  return read.filter
}

test('q finds part of any value in any case, and never the name of a member', () => {
  const entry = activityEntry('permission_denied', {
    agent_name: 'Billing Bot',
    status: 403,
    data: { agent_scopes: ['Chat "only"'], nested: { reason: 'Straße' } },
  })
  const now = Date.now()
  for (const q of ['billing', 'BOT', '403', 'chat "only"', 'straße', 'permission_'])
    assert.ok(matchesFilter(filterOf({ q }), entry, now), q)
  for (const q of ['agent_scopes', 'duration_ms', 'missing'])
    assert.ok(!matchesFilter(filterOf({ q }), entry, now), q)
})

test('what the script looks for in the stored text is there whenever a value has it', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.string(), (before, q, after) => {
      const raw = rawText(q.toLowerCase())
      const stored = JSON.stringify({ value: before + q + after })
      // The script folds ASCII alone.
      const folded = stored.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
      if (/^[ -~]*$/.test(before + q + after)) assert.ok(folded.includes(raw))
    }),
  )
})

test('a call that lasted long is filed as near to its beginning as a range of the log allows', () => {
  const written = Date.parse('2026-01-01T12:00:00Z')
  const entry = activityEntry('request_allowed', { timestamp: '2026-01-01T10:00:00.000Z' })
  const at = (from: string, to: string) => matchesFilter(filterOf({ from, to }), entry, written)
  assert.ok(!at('2026-01-01T09:59:00Z', '2026-01-01T10:01:00Z'))
  const filed = new Date(written - WRITTEN_AFTER_MAX_MS).toISOString()
  assert.ok(at(filed, '2026-01-01T12:00:00Z'))
  assert.ok(!at('2026-01-01T11:50:00Z', filed))
})

test('request ids rarely share a hash, and their entries are distinguished', () => {
  const hashes = new Set<string>()
  for (let i = 0; i < 25_600; i++) {
    const hash = requestHash(randomUUID())
    assert.match(hash, /^[\w-]{4}$/)
    hashes.add(hash)
  }
  // With 24 bits about twenty of them meet.
  assert.ok(hashes.size > 25_500)
  const entry = activityEntry('request_allowed', { request_id: 'a-1' })
  assert.ok(matchesFilter(filterOf({ request_id: 'a-1' }), entry, Date.now()))
  for (const request_id of ['a-2', 'A-1', 'a-1 ', 'a'])
    assert.ok(!matchesFilter(filterOf({ request_id }), entry, Date.now()), request_id)
})

test('all invalid times are named', () => {
  const read = readFilter({ from: 'yesterday', to: '2026-13-01T00:00:00Z' })
  assert.deepEqual(!read.ok && read.issues.map(({ path }) => path), ['query/from', 'query/to'])
})

test('the budget is shared so that all logs fit and small ones keep what they have', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 1000 }), { minLength: 1 }),
      fc.integer({ min: 1, max: 20_000 }),
      (sizes, total) => {
        const limit = fairLimit(sizes, total)
        const kept = sizes.map((size) => Math.min(size, limit))
        const sum = kept.reduce((a, b) => a + b, 0)
        assert.ok(sum <= total + 1e-6)
        if (sizes.some((size) => size > limit)) assert.ok(Math.abs(sum - total) < 1e-6)
      },
    ),
  )
})

test('an alert follows from findings that are blocked or shown, from anomalies and automatic kills, and from nothing else', () => {
  const finding = { pattern_name: 'ignore_previous', severity: 'critical', location: 'body' }
  const rows = [
    ['injection_blocked', { ...finding, mode: 'block' }, 'injection'],
    ['injection_detected', { ...finding, mode: 'alert' }, 'injection'],
    ['injection_detected', { ...finding, mode: 'log' }, null],
    ['injection_detected', { ...finding, mode: 'block', whitelisted: true }, null],
    ['anomaly_detected', { anomaly_score: 0.9, anomaly_types: ['frequency'] }, 'anomaly'],
    ['agent_killed', { triggered_by: 'system', kill_method: 'auto_anomaly' }, 'agent_killed'],
    ['agent_killed', { triggered_by: 'a@example.com', kill_method: 'api' }, null],
    [
      'changes_lost',
      { count: 1, changes: [{ action: 'agent.create', target: 'agt_1' }] },
      'changes_lost',
    ],
    ['request_allowed', {}, null],
    ['permission_denied', {}, null],
  ] as const
  for (const [event, data, kind] of rows)
    assert.equal(alertOfEntry(activityEntry(event, { data }))?.kind ?? null, kind, event)
})
