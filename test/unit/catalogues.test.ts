import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { eventOfReason } from '../../core/activity/event-of-reason.ts'
import { DELIVERED_EVENTS, EVENT_NAMES, EVENTS, eventRow } from '../../core/catalogue/events.ts'
import { deliveryTag, isDelivered } from '../../core/change/delivery-tag.ts'
import { REASONS, type Reason } from '../../core/catalogue/reasons.ts'
import { REDIS_KEY_ROWS, REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { fromRoot } from '../../core/system/root.ts'
import { SETTINGS } from '../../core/settings/settings.ts'
import { CATEGORIES } from '../../core/scanner/categories.ts'
import { BUILT_IN_PATTERNS } from '../../core/scanner/patterns/built-in.ts'

const reasons = Object.keys(REASONS) as Reason[]

const sources = ['core', 'ext-proc', 'admin', 'cli', 'envoy'].flatMap((folder) =>
  readdirSync(fromRoot(folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(?:ts|lua)$/.test(file))
    .map((file) => ({
      path: `${folder}/${file}`,
      text: readFileSync(fromRoot(folder, file), 'utf8'),
    })),
)

/** Whether product code outside of the catalogue itself has the name in such a place. */
const isUsed = (name: string, pattern: RegExp, catalogue = ''): boolean =>
  sources.some(({ path, text }) => path !== catalogue && text.includes(name) && pattern.test(text))

test('every reason refuses something', () => {
  for (const reason of reasons)
    assert.ok(
      isUsed(reason, new RegExp(`['\\s"]${reason}['",:]`), 'core/catalogue/reasons.ts'),
      reason,
    )
})

test('every event is written by something', () => {
  const refusals = new Set<string>(reasons.map(eventOfReason))
  for (const name of EVENT_NAMES)
    assert.ok(
      refusals.has(name) || isUsed(name, new RegExp(`'${name}'`), 'core/catalogue/events.ts'),
      name,
    )
})

test('every setting is read by something', () => {
  for (const field of Object.keys(SETTINGS))
    assert.ok(isUsed(field, new RegExp(`\\b${field}\\b`), 'core/settings/settings.ts'), field)
})

test('every list of routes is served', () => {
  const lists = sources.flatMap(({ path, text }) =>
    [...text.matchAll(/^export (?:const|function) (\w+Routes)\b/gm)].map(([, name = '']) => ({
      path,
      name,
    })),
  )
  assert.ok(lists.length > 15)
  for (const { path, name } of lists) {
    const isServed = new RegExp(`\\.\\.\\.${name}\\b|\\b${name}(?:\\)|\\()`)
    assert.ok(isUsed(name, isServed, path), `${path} exports ${name}`)
  }
})

test('every refusal is recorded as an event that is counted when frequent, so that no flood fills the log', () => {
  for (const reason of reasons)
    assert.equal(EVENTS[eventOfReason(reason)].when_frequent, 'counted', reason)
})

test('every event that is counted when frequent has a reason that leads to it', () => {
  const reached = new Set<string>(reasons.map(eventOfReason))
  for (const name of EVENT_NAMES)
    assert.equal(reached.has(name), EVENTS[name].when_frequent === 'counted', name)
})

test('a reason that only another version of the product knows is a rejected request', () => {
  for (const text of ['', 'no_such_reason', 'constructor', '__proto__', 'toString'])
    assert.equal(eventOfReason(text), 'request_rejected', text)
})

test('a name that only another version of the product knows has no row and no tag', () => {
  for (const text of ['', 'no_such_event', 'constructor', '__proto__', 'hasOwnProperty']) {
    assert.equal(eventRow(text), null, text)
    assert.equal(deliveryTag(text), '', text)
  }
})

test('the tag of an event is its name and its handling; what webhooks cannot receive has none', () => {
  for (const name of EVENT_NAMES) {
    const isSent = (DELIVERED_EVENTS as readonly string[]).includes(name)
    assert.match(deliveryTag(name), isSent ? /^[a-z_]+ (kept|bounded|gathered)$/ : /^$/, name)
    assert.equal(isDelivered({ event: name, data: {} }), isSent, name)
    assert.equal(isDelivered({ event: name, data: { mode: 'log' } }), false, name)
    assert.equal(isDelivered({ event: name, data: { whitelisted: true } }), false, name)
  }
  assert.equal(deliveryTag('agent_killed'), 'agent_killed kept')
  assert.equal(deliveryTag('agent_reactivated'), 'agent_reactivated kept')
  assert.equal(deliveryTag('rate_limit_exceeded'), 'rate_limit_exceeded gathered')
})

test('no script spells the name of an event or of a reason', () => {
  const folder = fromRoot('core', 'lua')
  const scripts = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.lua'),
  )
  assert.ok(scripts.length > 30)
  const names = new RegExp(`['"](?:${[...EVENT_NAMES, ...reasons].join('|')})['"]`)
  for (const file of scripts)
    assert.doesNotMatch(readFileSync(join(folder, file), 'utf8'), names, file)
})

test('every category that expressions find has a pattern', () => {
  const found = new Set<string>(BUILT_IN_PATTERNS.map(({ category }) => category))
  for (const [name, { found_by }] of Object.entries(CATEGORIES))
    assert.equal(found.has(name), found_by === 'expression', name)
})

test('every Redis key has a kind of its own, and something uses it', () => {
  const kinds = Object.values(REDIS_KEY_ROWS).map(({ kind }) => kind)
  assert.deepEqual([...new Set(kinds)], kinds)
  for (const name of Object.keys(REDIS_KEY_ROWS)) {
    assert.ok(isUsed(name, new RegExp(`REDIS_KEYS\\.${name}\\b`)), name)
  }
})

test('a Redis key is its kind and its parts, behind the hash tag', () => {
  assert.equal(REDIS_KEYS.epoch, '{agw}:epoch')
  assert.equal(REDIS_KEYS.agents('org_1'), '{agw}:agents:org_1')
  assert.equal(REDIS_KEYS.rateLog('org_1', 'agt_1', 'scp_1'), '{agw}:rate-log:org_1:agt_1:scp_1')
  assert.equal(REDIS_KEYS.unknownCalls(29_000_000), '{agw}:unknown-calls:29000000')
  // As a prefix, for a script that appends the last part itself.
  assert.equal(REDIS_KEYS.alert('org_1', ''), '{agw}:alert:org_1:')
})

test('every message, cause and cure is a sentence', () => {
  for (const [reason, { message, cause, cure }] of Object.entries(REASONS))
    for (const text of [message, cause, cure])
      assert.match(text, /^[A-Z{`][^]*[.]$/, `${reason}: ${text}`)
})
