import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { mergePatch } from '../../admin/resources/merge-patch.ts'

const PLAIN = { whole: [], nullable: [] }

/** The examples of RFC 7396, appendix A, whose target and patch are objects. */
const EXAMPLES: [object, object, object][] = [
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
]
for (const [target, patch, result] of EXAMPLES)
  test(`the patch ${JSON.stringify(patch)} makes ${JSON.stringify(result)} of ${JSON.stringify(target)}`, () => {
    assert.deepEqual(mergePatch({ ...target }, { ...patch }, PLAIN), result)
  })

test('a whole member is replaced and not merged', () => {
  const special = { whole: ['auth'], nullable: [] }
  const current = { auth: { type: 'bearer', token: 'x' }, other: { a: 1 } }
  const patch = { auth: { type: 'none' }, other: { b: 2 } }
  const merged = mergePatch(current, patch, special)
  assert.deepEqual(merged, { auth: { type: 'none' }, other: { a: 1, b: 2 } })
})

test('null in a nullable member is a value, also below another member', () => {
  const special = { whole: [], nullable: ['limit'] }
  const merged = mergePatch({ rate: { limit: 5, window: 1 } }, { rate: { limit: null } }, special)
  assert.deepEqual(merged, { rate: { limit: null, window: 1 } })
})

test('a patch does not modify its target, and applying it twice is the same as once', () => {
  const json = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.jsonValue({ maxDepth: 3 }), {
    noNullPrototype: true,
  }) as fc.Arbitrary<Record<string, unknown>>
  fc.assert(
    fc.property(json, json, (target, patch) => {
      const kept = structuredClone(target)
      const once = mergePatch(target, patch, PLAIN)
      assert.deepEqual(target, kept)
      assert.deepEqual(mergePatch(once, patch, PLAIN), once)
    }),
  )
})
