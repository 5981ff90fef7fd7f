import { createHash, randomBytes, randomInt } from 'node:crypto'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { closeConnections, call } from '../test/kit/call.ts'
import { operatorAt } from '../test/kit/operator.ts'
import { startParts } from '../test/kit/start-parts.ts'
import { startUpstream } from '../test/kit/start-upstream.ts'

/**
 * Random and mutated bodies through the whole gateway, scanning on: `npm run bench -- fuzz-gateway 600` for ten minutes.
 * Fails when a call is answered by a 5xx, hangs, or reaches the upstream with other bytes than were sent, but for the
 * `agent_id` that names its agent.
 */
const seconds = Number(process.argv[2] ?? 60)
const CALLS_AT_ONCE = 6
const CALL_LIMIT_MS = 20_000
/** 400 ambiguous, 403 blocked, 413 too large, 415 not to be inflated. */
const ANSWERS = new Set([200, 400, 403, 413, 415])
const LARGE_BYTES = 3_000_000

const WORDS = [
  'ignore',
  'all',
  'previous',
  'instructions',
  'system',
  'prompt',
  'hello',
  'DAN',
  '"',
  '\\',
  '\\u0000',
  '\u200b',
  'é',
  '名',
  '\ud83d',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '%41',
  '&',
  '=',
  '--x',
  '\r\n',
  '<a>',
  '&#105;',
  'aWdub3Jl',
  '0'.repeat(40),
]

const pick = <T>(items: readonly T[]): T => items[randomInt(items.length)] as T
const words = (count: number): string =>
  Array.from({ length: count }, () => pick(WORDS)).join(pick(['', ' ', '.']))

function jsonValue(depth: number): unknown {
  const kind = randomInt(depth > 6 ? 4 : 6)
  if (kind === 0) return words(randomInt(1, 12))
  if (kind === 1) return randomInt(1_000_000) * (Math.random() - 0.5)
  if (kind === 2) return pick([true, false, null])
  if (kind === 3)
    return randomBytes(randomInt(40)).toString(pick(['base64', 'hex', 'latin1'] as const))
  if (kind === 4) return Array.from({ length: randomInt(6) }, () => jsonValue(depth + 1))
  return Object.fromEntries(
    Array.from({ length: randomInt(6) }, () => [words(randomInt(1, 3)), jsonValue(depth + 1)]),
  )
}

const BODIES: readonly (() => Buffer)[] = [
  () =>
    Buffer.from(
      JSON.stringify({
        messages: [{ role: pick(['user', 'system', 'tool']), content: words(30) }],
      }),
    ),
  () => Buffer.from(JSON.stringify(jsonValue(0), null, pick([0, 2]))),
  () =>
    Buffer.from(
      Array.from({ length: randomInt(20) }, () => JSON.stringify(jsonValue(3))).join('\n'),
    ),
  () => Buffer.from(words(randomInt(1, 200))),
  () => Buffer.from(words(randomInt(1, 200)), 'utf16le'),
  () => randomBytes(randomInt(1, 5_000)),
  () => Buffer.from('['.repeat(randomInt(1, 30_000))),
  () => Buffer.from('{"a":'.repeat(randomInt(1, 5_000)) + '1' + '}'.repeat(randomInt(1, 5_000))),
  () =>
    Buffer.from(
      Array.from(
        { length: randomInt(1, 300) },
        () => `${encodeURIComponent(pick(WORDS).replace('\ud83d', 'x'))}=${pick(WORDS)}`,
      ).join('&'),
    ),
  () =>
    Buffer.from(
      `--x\r\nContent-Disposition: form-data; name="${pick(WORDS)}"\r\n\r\n${words(20)}\r\n--x--\r\n`,
    ),
  () => Buffer.from(words(100).repeat(randomInt(1, LARGE_BYTES / 500))),
  () =>
    Buffer.alloc(randomInt(LARGE_BYTES), pick(['a', '\\', '"', '\u200b', '%', '{"', '\\u0061'])),
]
const TYPES = [
  'application/json',
  'text/plain',
  'text/plain; charset=utf-16le',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/xml',
  'application/x-ndjson',
  'application/graphql',
  'application/octet-stream',
  'text/html; charset=shift_jis',
  '',
  'x/y; charset="',
]
const ENCODINGS: readonly (readonly [name: string, encode: (body: Buffer) => Buffer])[] = [
  ['gzip', (body) => gzipSync(body)],
  ['deflate', (body) => deflateSync(body)],
  ['br', (body) => brotliCompressSync(body)],
  ['gzip, br', (body) => brotliCompressSync(gzipSync(body))],
  ['gzip', (body) => body],
  ['odd', (body) => body],
]

/** Flips, cuts, doubles and swaps bytes, as a broken client or a curious attacker does. */
function mutate(body: Buffer): Buffer {
  const copy = Buffer.from(body)
  for (let i = randomInt(4); i > 0 && copy.length > 0; i--)
    copy[randomInt(copy.length)] = randomInt(256)
  const cut = randomInt(4)
  if (cut === 0) return copy.subarray(0, randomInt(copy.length + 1))
  if (cut === 1) return Buffer.concat([copy, copy.subarray(randomInt(copy.length + 1))])
  return copy
}

const seen = new Map<string, string>()
const echo = await startUpstream((request, response, _body, bytes) => {
  seen.set(String(request.url), createHash('sha256').update(bytes).digest('hex'))
  echo.bodies.length = 0
  response.end('{}')
})
const stack = await startParts({ AGW_EGRESS_ALLOW_CIDRS: '127.0.0.0/8' })
const operator = operatorAt(stack.proxyUrl, stack.adminToken)
const access = await operator.makeAccess(echo.origin, {
  scope: {
    injection_detection: { enabled: true, sensitivity: 'high' },
    mcp_tools: { allow: ['*'], deny: ['delete_*'] },
  },
})

/** A body that names its agent at the top level, and what is left of it for the upstream. */
function namesAgent(): { readonly body: Buffer; readonly forwarded: Buffer } {
  const member = `"agent_id":${pick(['', ' '])}"${access.agent.agent_id}"`
  const others = Array.from(
    { length: randomInt(4) },
    (_, index) => `"m${index}":${JSON.stringify(jsonValue(4))}`,
  )
  const filler = randomInt(3) === 0 ? [`"long":"${'lorem ipsum '.repeat(randomInt(60_000))}"`] : []
  const rest = [...others, ...filler]
  const at = randomInt(rest.length + 1)
  const whole = [...rest.slice(0, at), member, ...rest.slice(at)]
  return { body: Buffer.from(`{${whole.join()}}`), forwarded: Buffer.from(`{${rest.join()}}`) }
}

const tally = new Map<number, number>()
const problems: string[] = []
let count = 0
const until_ms = Date.now() + seconds * 1000
async function drive(): Promise<void> {
  while (Date.now() < until_ms && problems.length < 10) {
    const number = ++count
    const named = Math.random() < 0.1 ? namesAgent() : null
    const plain = named?.body ?? (Math.random() < 0.5 ? pick(BODIES)() : mutate(pick(BODIES)()))
    const [encoding, encode] =
      named === null && Math.random() < 0.2 ? pick(ENCODINGS) : [null, (body: Buffer) => body]
    const body = encode(plain)
    const type = pick(TYPES)
    const path = `/n/${number}`
    try {
      const answer = await call({
        to: stack.proxyUrl,
        path: `/${access.base_url}${path}`,
        method: 'POST',
        headers: {
          ...access.headers,
          ...(type === '' ? {} : { 'content-type': type }),
          ...(encoding === null ? {} : { 'content-encoding': encoding }),
        },
        body,
        is_chunked: Math.random() < 0.3,
        http_version: pick(['1.1', '2']),
        limit_ms: CALL_LIMIT_MS,
      })
      tally.set(answer.status, (tally.get(answer.status) ?? 0) + 1)
      if (!ANSWERS.has(answer.status))
        problems.push(
          `${number}: ${type} ${encoding} ${body.length} bytes ${body.subarray(0, 40).toString('latin1')}: ${answer.status} ${answer.body.toString().slice(0, 300)}`,
        )
      const received = seen.get(path)
      seen.delete(path)
      const sent = createHash('sha256')
        .update(named?.forwarded ?? body)
        .digest('hex')
      if (answer.status === 200 ? received !== sent : received !== undefined)
        problems.push(
          `${number}: status ${answer.status}, the upstream received ${received === undefined ? 'nothing' : 'other bytes'}`,
        )
    } catch (error) {
      problems.push(`${number}: ${type} ${encoding} ${body.length} bytes: ${String(error)}`)
    }
  }
}
await Promise.all(Array.from({ length: CALLS_AT_ONCE }, drive))
closeConnections()
await stack.stop()
await echo.stop()
const answers = [...tally]
  .sort(([a], [b]) => Number(a) - Number(b))
  .map(([status, times]) => `${status}: ${times}`)
  .join(', ')
process.stdout.write(
  `${count} bodies in ${seconds} s; answers ${answers}; ${problems.length} problems\n${problems.join('\n')}\n`,
)
const logged = stack
  .log()
  .split('\n')
  .filter((line) => line.includes('"level":50'))
process.stdout.write(`${logged.length} errors in the logs\n${logged.slice(0, 5).join('\n')}\n`)
process.exit(problems.length + logged.length === 0 ? 0 : 1)
