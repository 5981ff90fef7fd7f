import type { Header } from '../core/policy/header.ts'

// `npm run bench -- header-index`: what it costs to find ten headers of a call by walking the list for each, as the readers
// of ext-proc do, and by an index of the names that is made once a call. Every call has new texts, as from the codec.

const CALLS = 200_000
const ROUNDS = 4

/** A call of an SDK as Envoy gives it. */
const CALL: ReadonlyArray<readonly [name: string, value: string]> = [
  [':method', 'GET'],
  [':scheme', 'http'],
  [':authority', 'gateway.example.com'],
  [':path', '/https://api.example.com/v1/models/a'],
  ['authorization', 'Bearer agw_live_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'],
  ['accept', '*/*'],
  ['accept-encoding', 'gzip, deflate, br'],
  ['user-agent', 'OpenAI/Python 1.51.0'],
  ['content-type', 'application/json'],
  ['x-stainless-lang', 'python'],
  ['x-stainless-os', 'Linux'],
  ['x-stainless-arch', 'x64'],
  ['x-stainless-runtime', 'CPython'],
  ['x-request-id', '0b9f1c5e-0a4e-4d1e-8f4b-000000000000'],
  ['x-forwarded-for', '10.0.0.1'],
  ['x-forwarded-proto', 'http'],
  ['x-envoy-external-address', '10.0.0.1'],
]
/** What the readers of an allowed GET look for by its exact name. */
const ASKED = [
  'authorization',
  'via',
  'connection',
  'cookie',
  'via',
  'accept',
  'accept-encoding',
  ':method',
  'x-request-id',
  'x-envoy-external-address',
]

const bytes = CALL.map(([name, value]) => [Buffer.from(name), Buffer.from(value)] as const)
const received = (): Header[] =>
  bytes.map(([name, value]) => ({ name: name.toString('latin1'), value: value.toString('latin1') }))

function byWalks(headers: readonly Header[]): number {
  let found = 0
  for (const asked of ASKED) for (const { name } of headers) if (name === asked) found++
  return found
}

function byIndex(headers: readonly Header[]): number {
  const index = new Map<string, Header | Header[]>()
  for (const header of headers) {
    const before = index.get(header.name)
    index.set(header.name, before === undefined ? header : [before, header].flat())
  }
  let found = 0
  for (const asked of ASKED) if (index.has(asked)) found++
  return found
}

const WAYS = { 'no reader': () => 0, walks: byWalks, index: byIndex } as const

for (let round = 0; round < ROUNDS; round++) {
  const costs = Object.entries(WAYS).map(([name, read]) => {
    const began = process.cpuUsage()
    let found = 0
    for (let i = 0; i < CALLS; i++) found += read(received())
    const { user, system } = process.cpuUsage(began)
    if (name !== 'no reader' && found !== CALLS * 6) throw new Error(`${name} found ${found}`)
    return `${name} ${((user + system) / CALLS).toFixed(2)}`
  })
  process.stdout.write(`µs of CPU per call: ${costs.join(', ')}\n`)
}
