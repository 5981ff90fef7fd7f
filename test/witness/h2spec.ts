import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { startPlainEnvoy } from '../../bench/start-plain-envoy.ts'
import { operatorAt } from '../kit/operator.ts'
import { startStack } from '../kit/start-stack.ts'
import { tempFolder } from '../kit/temp-folder.ts'

/**
 * Runs h2spec against the listener, for a call that is forwarded and for one that is refused, and against an Envoy of
 * the same binary without our configuration. A failure that the plain Envoy does not have is the product's own.
 *
 *     go install github.com/summerwind/h2spec/cmd/h2spec@latest
 *     node cli/prepare.mjs build && node dist/test/witness/h2spec.js [--product FOLDER] PATH/h2spec
 */
const words = process.argv.slice(2)
const at = words.indexOf('--product')
const product = at < 0 ? undefined : words.splice(at, 2)[1]
const [binary] = words
if (binary === undefined) throw new Error('name the h2spec binary')

/** Longer than the windows with which h2spec tests flow control; it skips these cases for a short body. */
const BODY = 'x'.repeat(1024)

interface Results {
  readonly count: number
  readonly skipped: number
  /** Failed test cases, by section and title. */
  readonly failed: ReadonlyMap<string, string>
}

let forwarded = 0
const api = createServer((request, response) => {
  forwarded++
  request.resume()
  request.once('end', () => response.end(BODY))
})
await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve))
const { port } = api.address() as AddressInfo
const plain = await startPlainEnvoy(port)
const stack = await startStack({ AGW_EGRESS_ALLOW_CIDRS: '127.0.0.0/8' }, product)
try {
  // h2spec cannot send Authorization, so the key stands where the credential of the integration goes.
  const auth = { type: 'query', name: 'key', value: 'stored-credential-1' }
  const access = await operatorAt(stack.apiUrl, stack.adminToken).makeAccess(
    `http://127.0.0.1:${port}`,
    { auth },
  )
  const ours = Number(new URL(stack.proxyUrl).port)
  const baseline = await run('plain', plain.port, '/')
  forwarded = 0
  const passed = await run('passed', ours, `/${access.base_url}/?key=${access.agent.api_key}`)
  const before = forwarded
  if (before === 0) throw new Error('no call was forwarded')
  const refused = await run('refused', ours, '/')
  if (forwarded > before) throw new Error('a call without a key was forwarded')
  for (const [name, { count, skipped, failed }] of Object.entries({
    'plain Envoy': baseline,
    'forwarded call': passed,
    'refused call': refused,
  })) {
    const own = [...failed].filter(([title]) => !baseline.failed.has(title))
    console.log(
      `${name.padEnd(15)} ${count} cases, ${count - failed.size - skipped} passed, ${skipped} skipped, ${failed.size} failed, ${own.length} of them not on the plain Envoy`,
    )
    for (const [title, why] of name === 'plain Envoy' ? failed : own)
      console.log(`  ${title}: ${why}`)
    if (own.length > 0) process.exitCode = 1
  }
} finally {
  await stack.stop()
  await plain.stop()
  api.close().closeAllConnections()
}
process.exit()

async function run(name: string, listener: number, path: string): Promise<Results> {
  const report = join(tempFolder(`h2spec-${name}`), 'report.xml')
  const args = ['--strict', '--port', String(listener), '--path', path, '--junit-report', report]
  // It exits with 1 when a case has failed; the report says which.
  await new Promise<void>((resolve) => execFile(binary ?? '', args, () => resolve()))
  const xml = readFileSync(report, 'utf8')
  const cases = [
    ...xml.matchAll(
      /<testcase package="([^"]*)" classname="([^"]*)"[^>]*?(?:\/>|>([\s\S]*?)<\/testcase>)/g,
    ),
  ]
  if (cases.length === 0) throw new Error(`h2spec left no result in ${report}`)
  const failed = cases.flatMap(([, section, title, inside = '']) =>
    /<(?:failure|error)/.test(inside) ? [[`${section} ${title}`, textOf(inside)] as const] : [],
  )
  const skipped = cases.filter(([, , , inside = '']) => inside.includes('<skipped')).length
  return { count: cases.length, skipped, failed: new Map(failed) }
}

/** h2spec lists what would have been right, and last what came. */
function textOf(xml: string): string {
  const lines = xml
    .replace(/<[^>]*>/g, '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  return `${lines.at(-1)}, expected ${lines.slice(0, -1).join(' or ')}`
}
