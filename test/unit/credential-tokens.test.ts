import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { fromRoot } from '../../core/system/root.ts'
import { Secret } from '../../core/keys/secret.ts'
import { readTokenAnswer } from '../../core/token/read-token-answer.ts'
import type { ClientStyle } from '../../core/credential/token-client.ts'
import type { FetchOutcome } from '../../core/token/fetch-token.ts'
import {
  FETCHES_MAX,
  FETCHES_OF_ORGANIZATION_MAX,
  TokenCache,
  type TokenOrder,
  TOKENS_MAX,
  TOKENS_OF_ORGANIZATION_MAX,
} from '../../ext-proc/credential/token-cache.ts'
import {
  CREDENTIAL_CAUSES,
  type TokenFailure,
  tokenFailure,
} from '../../core/token/credential-cause.ts'

const GOOD = { access_token: 'abc.DEF-1~_+/=', token_type: 'Bearer', expires_in: 60 }
const read = (answer: unknown, status = 200) =>
  readTokenAnswer(status, Buffer.from(typeof answer === 'string' ? answer : JSON.stringify(answer)))

test('a token is read with its lifetime, however the endpoint writes the number', () => {
  const rows: ReadonlyArray<readonly [object, number]> = [
    [{}, 60],
    [{ expires_in: '3600' }, 3600],
    [{ expires_in: 0.5 }, 0.5],
    [{ expires_in: undefined }, 300],
    [{ expires_in: null }, 300],
    [{ expires_in: 'soon' }, 300],
    [{ expires_in: 1e12 }, 86_400],
    [{ token_type: 'bearer', scope: 'a', refresh_token: 'r' }, 60],
    [{ ok: true, token_type: 'bot', error: undefined }, 60],
  ]
  for (const [more, lifetime_s] of rows) {
    const answer = read({ ...GOOD, ...more })
    assert.ok(answer.kind === 'token', JSON.stringify(more))
    assert.equal(answer.token.reveal(), GOOD.access_token)
    assert.equal(answer.lifetime_s, lifetime_s)
  }
})

test('an answer without a token that can be used is a failure with its cause', () => {
  const rows: ReadonlyArray<readonly [unknown, number, TokenFailure['cause'], string | null]> = [
    ['', 200, 'unreadable_answer', null],
    ['<html>', 200, 'unreadable_answer', null],
    ['null', 200, 'unreadable_answer', null],
    [[], 200, 'unreadable_answer', null],
    [{ ...GOOD, access_token: 1 }, 200, 'unreadable_answer', null],
    [{ error: 'invalid_client' }, 200, 'refused', 'invalid_client'],
    [{ ok: false, error: 'invalid_refresh_token' }, 200, 'refused', 'invalid_grant'],
    [{ error: 'bad_verification_code' }, 200, 'refused', 'invalid_grant'],
    [{ error: 'constructor' }, 200, 'unreadable_answer', null],
    [{ error: 'your_secret_is_hunter2' }, 200, 'unreadable_answer', null],
    [{ ...GOOD, token_type: 'mac' }, 200, 'other_token_type', null],
    [{ ...GOOD, token_type: undefined }, 200, 'other_token_type', null],
    [{ ...GOOD, access_token: '' }, 200, 'unusable_token', null],
    [{ ...GOOD, access_token: 'a b' }, 200, 'unusable_token', null],
    [{ ...GOOD, access_token: 'a\r\nx: y' }, 200, 'unusable_token', null],
    [{ ...GOOD, access_token: 'ü' }, 200, 'unusable_token', null],
    [{ ...GOOD, access_token: 'a'.repeat(8193) }, 200, 'unusable_token', null],
    [{ ...GOOD, expires_in: 0 }, 200, 'expired_token', null],
    [{ ...GOOD, expires_in: '-1' }, 200, 'expired_token', null],
    [GOOD, 201, 'refused', null],
    [GOOD, 302, 'redirect_refused', null],
    [{ error: 'invalid_client' }, 401, 'refused', 'invalid_client'],
    [{ error: 'your_secret_is_hunter2' }, 400, 'refused', null],
    ['gone', 503, 'refused', null],
  ]
  for (const [body, status, cause, code] of rows)
    assert.deepEqual(read(body, status), {
      kind: 'failed',
      failure: { cause, token_status: status, token_error: code },
    })
})

test('whatever an endpoint answers, a token is visible ASCII and lives between nothing and a day', () => {
  const member = fc.oneof(fc.string(), fc.double(), fc.constant(null), fc.constant({}))
  const answers = fc.oneof(
    fc.uint8Array().map((bytes) => Buffer.from(bytes)),
    fc
      .record({ access_token: member, token_type: fc.constant('Bearer'), expires_in: member })
      .map((answer) => Buffer.from(JSON.stringify(answer))),
  )
  fc.assert(
    fc.property(answers, (body) => {
      const answer = readTokenAnswer(200, body)
      if (answer.kind === 'failed') return
      assert.match(answer.token.reveal(), /^[\x21-\x7e]{1,8192}$/)
      assert.ok(answer.lifetime_s > 0 && answer.lifetime_s <= 86_400)
    }),
  )
})

const order = (id: string, revision = '1', more: Partial<TokenOrder> = {}): TokenOrder => ({
  organization_id: 'org',
  integration_id: id,
  connection_id: null,
  agent_id: null,
  type: 'oauth2_client_credentials',
  revision,
  client: {
    token_url: `https://login.example.com/${id}/${revision}`,
    variant: '',
    agent_id: null,
    revocation_url: null,
    answer: 'oauth',
    has_styles: true,
    request: () => Promise.resolve({ headers: {}, body: '' }),
  },
  ...more,
})

/** A cache whose clock and endpoint are in the test's hands. */
function makeCache() {
  const clock = { now_ms: 1_000_000 }
  const fetches: { style: ClientStyle; client: string; end: (outcome: FetchOutcome) => void }[] = []
  const failures: TokenFailure[] = []
  const cache = new TokenCache({
    nowMs: () => clock.now_ms,
    onFailure: (_, failure) => failures.push(failure),
    fetch: ({ client }, style) =>
      new Promise((end) => {
        fetches.push({ style, client: 'grant' in client ? '' : client.token_url, end })
      }),
  })
  let count = 0
  const token = (lifetime_s = 3600, style: ClientStyle = 'basic'): FetchOutcome => ({
    answer: { kind: 'token', token: new Secret(`token ${++count}`), lifetime_s },
    style,
  })
  const failed = (): FetchOutcome => ({
    answer: { kind: 'failed', failure: tokenFailure('timeout') },
    style: 'basic',
  })
  const ask = async (of: TokenOrder): Promise<string> => {
    const found = await cache.get(of)
    return found.kind === 'token' ? found.token.reveal() : found.failure.cause
  }
  /** Answered without any waiting. */
  const askNow = (of: TokenOrder): string | null => {
    const found = cache.get(of)
    if (found instanceof Promise) return null
    return found.kind === 'token' ? found.token.reveal() : found.failure.cause
  }
  return { cache, clock, fetches, failures, token, failed, ask, askNow }
}

test('a token is fetched ahead while the old one serves, and not used in the last of its life', async () => {
  const { clock, fetches, token, ask, askNow } = makeCache()
  const first = ask(order('a'))
  fetches[0]?.end(token(1000))
  await first
  clock.now_ms += 665_000
  assert.equal(askNow(order('a')), 'token 1')
  assert.equal(fetches.length, 1)
  clock.now_ms += 2_000
  assert.equal(askNow(order('a')), 'token 1')
  assert.equal(askNow(order('a')), 'token 1')
  assert.equal(fetches.length, 2)
  clock.now_ms += 304_000
  const late = ask(order('a'))
  assert.equal(fetches.length, 2)
  fetches[1]?.end(token())
  assert.equal(await late, 'token 2')
})

test('a token of five seconds is not used in its last second and a half, however old it is when it comes', async () => {
  for (const age_ms of [0, 2_000, 3_400]) {
    const { clock, fetches, ask, askNow } = makeCache()
    const first = ask(order('a'))
    const token = new Secret('short')
    fetches[0]?.end({ answer: { kind: 'token', token, lifetime_s: 5, age_ms }, style: 'basic' })
    await first
    clock.now_ms += 3_499 - age_ms
    assert.equal(askNow(order('a')), 'short')
    clock.now_ms += 1
    assert.equal(askNow(order('a')), null)
  }
})

test('the tokens of a connection are looked at again every five seconds, and after a 401', async () => {
  const { cache, clock, fetches, ask, askNow } = makeCache()
  const client = { grant: { connection_id: 'con' }, variant: '' } as never
  const of = order('a', '1', { client })
  const given = (text: string): FetchOutcome => ({
    answer: { kind: 'token', token: new Secret(text), lifetime_s: 3_600 },
    style: 'basic',
  })
  const first = ask(of)
  fetches[0]?.end(given('old'))
  await first
  clock.now_ms += 4_999
  assert.equal(askNow(of), 'old')
  assert.equal(fetches.length, 1)
  clock.now_ms += 1
  assert.equal(askNow(of), 'old', 'no call waits for it')
  fetches[1]?.end(given('old'))
  await new Promise(setImmediate)
  clock.now_ms += 5_000
  assert.equal(askNow(of), 'old')
  fetches[2]?.end(given('renewed'))
  await new Promise(setImmediate)
  assert.equal(askNow(of), 'renewed')
  // It was renewed again at this moment: the old one is refused, and the next call has the new one.
  const held = cache.get(of)
  assert.ok(!(held instanceof Promise) && held.kind === 'token')
  cache.rejected(of, held.token)
  const next = ask(of)
  fetches[3]?.end(given('newest'))
  assert.equal(await next, 'newest')
})

test('after a failure nothing is asked for a while that doubles, and a token that still lives serves on', async () => {
  const { clock, fetches, failures, token, failed, ask, askNow } = makeCache()
  const first = ask(order('a'))
  fetches[0]?.end(token(1000))
  await first
  clock.now_ms += 800_000
  for (const [i, pause_ms] of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000].entries()) {
    assert.equal(askNow(order('a')), 'token 1')
    assert.equal(fetches.length, i + 2)
    fetches[i + 1]?.end(failed())
    await new Promise(setImmediate)
    clock.now_ms += pause_ms - 1
    assert.equal(askNow(order('a')), 'token 1')
    assert.equal(fetches.length, i + 2)
    clock.now_ms += 1
  }
  assert.equal(failures.length, 7)
  clock.now_ms += 100_000
  const refused = ask(order('a'))
  fetches[8]?.end(failed())
  assert.equal(await refused, 'timeout')
  assert.equal(askNow(order('a')), 'timeout')
})

test('any change of the integration makes its token forgotten, also one that is on its way', async () => {
  const { fetches, token, ask, askNow } = makeCache()
  const [before, after] = [ask(order('a', '1')), ask(order('a', '2'))]
  assert.deepEqual(
    fetches.map(({ client }) => client),
    ['https://login.example.com/a/1', 'https://login.example.com/a/2'],
  )
  fetches[0]?.end(token())
  assert.equal(await before, 'token 1')
  assert.equal(askNow(order('a', '2')), null)
  fetches[1]?.end(token())
  assert.equal(await after, 'token 2')
  assert.equal(askNow(order('a', '2')), 'token 2')
  assert.equal(askNow(order('b', '2')), null)
})

test('a token that the API does not take is replaced, unless it is new', async () => {
  const { cache, clock, fetches, token, ask, askNow } = makeCache()
  const first = ask(order('a'))
  const outcome = token()
  fetches[0]?.end(outcome)
  await first
  assert.ok(outcome.answer.kind === 'token')
  const given = outcome.answer.token
  cache.rejected(order('a'), given)
  assert.equal(askNow(order('a')), 'token 1')
  clock.now_ms += 5_000
  cache.rejected(order('a'), new Secret('another'))
  cache.rejected(order('a', '0'), given)
  assert.equal(askNow(order('a')), 'token 1')
  cache.rejected(order('a'), given)
  assert.equal(askNow(order('a')), null)
})

test('the style that an endpoint took is the one it is asked in next', async () => {
  const { clock, fetches, token, ask } = makeCache()
  const first = ask(order('a'))
  fetches[0]?.end(token(10, 'post'))
  await first
  clock.now_ms += 10_000
  void ask(order('a'))
  assert.deepEqual(
    fetches.map(({ style }) => style),
    ['basic', 'post'],
  )
})

test('fetches and tokens have bounds', async () => {
  const { fetches, token, failed, ask, askNow } = makeCache()
  const of = (organization_id: string, id: string) => ({ ...order(id), organization_id })
  for (let round = 0; round < 2; round++) {
    for (let i = 0; i < FETCHES_OF_ORGANIZATION_MAX; i++)
      assert.equal(askNow(of('first', `${round} busy ${i}`)), null)
    assert.equal(askNow(of('first', 'one more')), 'busy')
    for (let i = FETCHES_OF_ORGANIZATION_MAX; i < FETCHES_MAX; i++)
      assert.equal(askNow(of('second', `${round} busy ${i}`)), null)
    assert.equal(askNow(of('third', 'one more')), 'busy')
    for (const { end } of fetches.splice(0)) end(failed())
    await new Promise(setImmediate)
  }
  const keep = async (of: TokenOrder): Promise<void> => {
    const waiting = ask(of)
    fetches.at(-1)?.end(token())
    await waiting
  }
  const neighbour = order('kept', '1', { organization_id: 'another' })
  await keep(neighbour)
  for (let i = 0; i <= TOKENS_OF_ORGANIZATION_MAX; i++) await keep(order(`of one ${i}`))
  assert.notEqual(askNow(neighbour), null)
  assert.notEqual(askNow(order('of one 1')), null)
  assert.equal(askNow(order('of one 0')), null)
  fetches.at(-1)?.end(token())
  for (let i = 0; i < TOKENS_MAX; i++)
    await keep(order(`kept ${i}`, '1', { organization_id: `o${i}` }))
  assert.equal(askNow(neighbour), null)
})

test('agents of one credential have tokens of their own where it says so', async () => {
  const { fetches, token, ask, askNow } = makeCache()
  const of = (variant: string): TokenOrder => {
    const one = order('a')
    return { ...one, client: { ...one.client, variant } as TokenOrder['client'] }
  }
  const waiting = [ask(of('one')), ask(of('other'))]
  for (const { end } of fetches) end(token())
  await Promise.all(waiting)
  assert.equal(askNow(of('one')), 'token 1')
  assert.equal(askNow(of('other')), 'token 2')
})
const PAGE = fromRoot('docs', 'guides', 'credentials.md')
const PLACE = /(<!-- causes: [^\n]*-->\n)[^]*?(<!-- \/causes -->)/

test('docs/guides/credentials.md lists every cause', () => {
  const rows = Object.entries(CREDENTIAL_CAUSES).map(
    ([cause, text]) => `| \`${cause}\` | ${text} |`,
  )
  const table = ['| `cause` | |', '|---|---|', ...rows].join('\n')
  const fresh = readFileSync(PAGE, 'utf8').replace(
    PLACE,
    (_, begin: string, end: string) => `${begin}\n${table}\n\n${end}`,
  )
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(PAGE, fresh)
  assert.equal(readFileSync(PAGE, 'utf8'), fresh)
})
