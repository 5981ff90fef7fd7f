import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { after, test } from 'node:test'
import { fromRoot } from '../../core/system/root.ts'
import { call } from '../kit/call.ts'
import { EVERYDAY_TEXTS } from '../kit/everyday-texts.ts'
import { linesOf } from '../kit/lines-of.ts'
import { minimalPairs } from '../kit/minimal-pairs.ts'
import { sharedStack } from '../kit/shared-stack.ts'
import { startUpstream } from '../kit/start-upstream.ts'

const stack = await sharedStack()
const upstream = await startUpstream((_request, response) => void response.end('{"ok":true}'))
after(() => upstream.stop())

const AT_ONCE = 8
const EVERY = 20

interface Decision {
  readonly is_blocked: boolean
  /** Names of the patterns that `agw scan` reports, or the one of the gateway's refusal. */
  readonly patterns: readonly string[]
}

function decisionsOfScan(bodies: readonly string[], sensitivity: string): Decision[] {
  const args = [fromRoot('dist', 'cli', 'bin.js'), 'scan', '--sensitivity', sensitivity]
  const input = bodies
    .map((body, id) => JSON.stringify({ id, body, content_type: 'application/json' }))
    .join('\n')
  const printed = execFileSync(process.execPath, args, { input, encoding: 'utf8' })
  return linesOf(printed).map((line) => {
    const { blocked, detections } = JSON.parse(line)
    const patterns = detections.map(({ pattern_name }: { pattern_name: string }) => pattern_name)
    return { is_blocked: blocked, patterns }
  })
}

for (const sensitivity of ['low', 'medium', 'high'])
  test(`agw scan and the gateway decide alike at ${sensitivity}`, async (t) => {
    const pairs = minimalPairs().flat()
    const everyday = Object.values(EVERYDAY_TEXTS).flatMap(linesOf)
    const texts = [...pairs, ...everyday.filter((_, i) => i % EVERY === 0)]
    const bodies = texts.map((content) =>
      JSON.stringify({ model: 'gpt-4', messages: [{ role: 'user', content }] }),
    )
    const scanned = decisionsOfScan(bodies, sensitivity)
    assert.equal(scanned.length, bodies.length)
    const injection_detection = { sensitivity, mode: 'block' }
    const { headers, base_url } = await stack.operator.makeAccess(
      `${upstream.origin}/${sensitivity}`,
      { scope: { injection_detection } },
    )
    const send = async (i: number): Promise<void> => {
      const answer = await call({
        to: stack.proxyUrl,
        path: `/${base_url}/chat`,
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: bodies[i] ?? '',
      })
      const { is_blocked = false, patterns = [] } = scanned[i] ?? {}
      assert.equal(answer.status, is_blocked ? 403 : 200, texts[i])
      if (!is_blocked) return
      const { error, details } = answer.json()
      assert.equal(error, 'security_block')
      assert.ok(patterns.includes(details.pattern_name), `${texts[i]}: ${details.pattern_name}`)
    }
    const rest = bodies.keys()
    const workers = Array.from({ length: AT_ONCE }, async () => {
      for (const i of rest) await send(i)
    })
    await Promise.all(workers)
    const blocked = scanned.filter(({ is_blocked }) => is_blocked).length
    assert.ok(blocked > 0 && blocked < bodies.length)
    t.diagnostic(`${bodies.length} of ${bodies.length} alike, ${blocked} of them blocked`)
  })
