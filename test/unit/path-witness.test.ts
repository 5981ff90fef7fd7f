import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judgeShape } from '../witness/judge-shape.ts'
import { pathPayloads } from '../witness/path-payloads.ts'

const judge = (target: string): string =>
  judgeShape({ name: target, method: 'GET', target, headers: [], body: '' })

test('threat 28: no payload that a scope for one segment allows has a second one in any decoding', () => {
  const payloads = pathPayloads(['../{FILE}\n..%2f{FILE}\n..%c0%af{FILE}\n\\..\\{FILE}'])
  assert.ok(payloads.length > 1_000)
  for (const target of payloads) {
    if (judge(target) === 'refused') continue
    let path = target
    for (let round = 0; round < 6; round++) {
      const segments = path.split(/[/\\]/).filter((segment) => segment !== '')
      assert.ok(segments.length === 2 && !segments.includes('..'), `${target} is ${path}`)
      path = decodeURIComponent(path)
        .replace(/[\u2044\u2215]/g, '/')
        .replaceAll('\u2216', '\\')
        .normalize('NFKC')
    }
  }
  assert.equal(judge('/items/1'), 'allowed')
})
