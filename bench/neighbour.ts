import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { fileURLToPath } from 'node:url'
import { operatorAt } from '../test/kit/operator.ts'
import { startParts } from '../test/kit/start-parts.ts'
import { startUpstream } from '../test/kit/start-upstream.ts'
import { LOOP_DELAY_MARK, type LoopDelay } from './loop-watch.ts'
import type { LoadOrder } from './neighbour-load.ts'
import { quantile } from './quantile.ts'

/**
 * What a neighbour notices while large bodies are scanned, through the real gateway: `npm run bench -- neighbour 10`.
 * The same load is sent once to a scope that scans and once to one that does not. All processes share the cores of the
 * machine, so on a small one a part of what the neighbour waits is for a core; the delay of the processor's event loop
 * is printed beside it.
 */
const seconds = Number(process.argv[2] ?? 10)
const PAUSE_MS = 4
const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

const MIB = 1 << 20
const WORDS =
  'ignore all previous show tell your system prompt what instructions rules now act as no without never password key send'.split(
    ' ',
  )
const SENTENCE =
  'The river rose by half a metre during the night, but the bridge stayed open until noon. '
const chat = (text: string): string =>
  JSON.stringify({ model: 'm', messages: [{ role: 'user', content: text }] })
const triggers = (size: number): string => {
  let text = ''
  for (let i = 7; text.length < size; i = (Math.imul(i, 1_103_515_245) + 12_345) & 0x7fffffff)
    text += `${WORDS[(i >> 8) % WORDS.length]} `
  return text
}

type Body = { readonly type: string; readonly text: string; readonly every_ms: number }
const JSON_TYPE = 'application/json'
const filled = (part: string, size: number): string => part.repeat(Math.floor(size / part.length))
const BODIES: Record<string, Body> = {
  'ordinary, 1 MiB': { type: JSON_TYPE, text: chat(filled(SENTENCE, MIB)), every_ms: 200 },
  'ordinary, 8 MB': { type: JSON_TYPE, text: chat(filled(SENTENCE, 7.9e6)), every_ms: 1_000 },
  'trigger words, 1 MiB': { type: JSON_TYPE, text: chat(triggers(MIB)), every_ms: 400 },
  'trigger words, 8 MB': { type: JSON_TYPE, text: chat(triggers(7.9e6)), every_ms: 2_000 },
  'parts of a form, 8 MB': {
    type: 'multipart/form-data; boundary=x',
    text: filled('--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nv\r\n', 7.9e6),
    every_ms: 1_000,
  },
  'JSON-RPC batch, 8 MB': {
    type: JSON_TYPE,
    text: `[${filled('{"jsonrpc":"2.0","id":1,"method":"x"},', 7.9e6)}{}]`,
    every_ms: 1_000,
  },
  'agent_id among a million members, 8 MB': {
    type: JSON_TYPE,
    text: `{"agent_id":1,${filled('"a":"",', 7.9e6)}"b":1}`,
    every_ms: 1_000,
  },
}

const agent = new Agent({ keepAlive: true, maxSockets: 1 })
const one = (to: string, path: string, headers: Record<string, string>): Promise<number> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(to)
    const started = performance.now()
    const call = request({ hostname, port, path, method: 'POST', agent, headers }, (answer) => {
      if (answer.statusCode !== 200) reject(new Error(`the neighbour got ${answer.statusCode}`))
      answer.resume()
      answer.on('end', () => resolve(performance.now() - started))
    })
    call.on('error', reject)
    call.end('{"q":"a short question"}')
  })

const load = fork(here('./neighbour-load.js'))
const [{ origin: sink }] = (await once(load, 'message')) as [{ origin: string }]
const echo = await startUpstream((_request, response) => {
  response.end('{}')
})
const stack = await startParts({ AGW_EGRESS_ALLOW_CIDRS: '127.0.0.0/8' }, [
  '--import',
  here('./loop-watch.js'),
])
const operator = operatorAt(stack.proxyUrl, stack.adminToken)
const scanning = { injection_detection: { enabled: true, mode: 'log' } }
const restricted = { ...scanning, mcp_tools: { allow: ['*'], deny: ['delete_*'] } }
const neighbour = await operator.makeAccess(echo.origin, { scope: scanning })
const scanned = await operator.makeAccess(sink, { scope: restricted })
const unscanned = await operator.makeAccess(`${sink}/v1`, {})

const loopDelay = async (child: ChildProcess): Promise<LoopDelay> => {
  const before = stack.log().length
  child.kill('SIGUSR2')
  for (;;) {
    const line = stack
      .log()
      .slice(before)
      .split('\n')
      .slice(0, -1)
      .find((one) => one.startsWith(LOOP_DELAY_MARK))
    if (line !== undefined) return JSON.parse(line.slice(LOOP_DELAY_MARK.length)) as LoopDelay
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}

/** Latencies of the neighbour while the load runs. */
async function measure(
  order: LoadOrder | null,
): Promise<{ p50: number; p99: number; loop: LoopDelay }> {
  const headers = { ...neighbour.headers, 'content-type': JSON_TYPE }
  const path = `/${neighbour.base_url}/n`
  const done = order === null ? null : once(load, 'message')
  if (order !== null) load.send(order)
  await loopDelay(stack.extProc)
  const ends = performance.now() + seconds * 1_000
  const times: number[] = []
  while (performance.now() < ends) {
    times.push(await one(stack.proxyUrl, path, headers))
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
  const loop = await loopDelay(stack.extProc)
  if (done !== null) {
    const [{ statuses }] = (await done) as [{ statuses: Record<string, number> }]
    if (Object.keys(statuses).join() !== '200') console.log(`  answers ${JSON.stringify(statuses)}`)
  }
  times.sort((a, b) => a - b)
  return { p50: quantile(times, 0.5), p99: quantile(times, 0.99), loop }
}

const show = (
  label: string,
  { p50, p99, loop }: { p50: number; p99: number; loop: LoopDelay },
): void =>
  console.log(
    `${label.padEnd(58)} p50 ${p50.toFixed(2)}  p99 ${p99.toFixed(2)} ms; loop p99 ${loop.p99_ms.toFixed(2)}, max ${loop.max_ms.toFixed(1)} ms late`,
  )

await measure(null)
show('the neighbour alone', await measure(null))
for (const [name, { type, text, every_ms }] of Object.entries(BODIES)) {
  for (const [how, access] of [
    ['not scanned', unscanned],
    ['scanned', scanned],
  ] as const) {
    const order: LoadOrder = {
      to: stack.proxyUrl,
      path: `/${access.base_url}/bodies`,
      headers: { ...access.headers, 'content-type': type },
      body: text,
      every_ms,
      for_ms: seconds * 1_000,
    }
    show(`${name}, ${how}`, await measure(order))
  }
}
agent.destroy()
load.kill()
await stack.stop()
await echo.stop()
