import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { chooseScope } from '../../core/decision/choose-scope.ts'
import { compileScopes, compilingScopes } from '../../core/decision/compile-scopes.ts'
import { runStepsWith } from '../../core/request/run-steps.ts'
import { parsePathPattern } from '../../core/decision/path-pattern.ts'
import { type MatchBudget, PathTrie } from '../../core/decision/path-trie.ts'
import { checkScopeSettings } from '../../admin/scopes/check-scope-settings.ts'
import { matchesPath } from '../kit/matches-path.ts'
import { splitRanges } from '../../core/request/split-ranges.ts'
import { repetitions } from '../kit/repetitions.ts'
import { aScope, targetOf } from './policy-kit.ts'

const ample = (): MatchBudget => ({ left: 1_000_000 })

const trieOf = (patterns: readonly string[]): PathTrie => {
  const trie = new PathTrie()
  for (const [rule, text] of patterns.entries()) {
    const pattern = parsePathPattern(text)
    assert.notEqual(typeof pattern, 'string', text)
    if (typeof pattern !== 'string') trie.add(pattern, rule)
  }
  return trie
}

test('a trie matches exactly the patterns that match by themselves', () => {
  const part = fc.constantFrom('a', 'b', 'c', '*', '**')
  const pattern = fc.array(part, { maxLength: 6 }).map((parts) => `/${parts.join('/')}`)
  const segment = fc.constantFrom('a', 'b', 'c', 'd', '', ';x')
  fc.assert(
    fc.property(
      fc.array(pattern, { minLength: 1, maxLength: 12 }),
      fc.array(segment, { maxLength: 8 }),
      fc.nat(2),
      (patterns, segments, start) => {
        const from = Math.min(start, segments.length)
        const expected = patterns.flatMap((text, rule) => {
          const parsed = parsePathPattern(text)
          return typeof parsed !== 'string' && matchesPath(parsed, segments, from) ? [rule] : []
        })
        assert.deepEqual(trieOf(patterns).match(segments, from, ample()), expected)
      },
    ),
    { numRuns: repetitions(3_000) },
  )
})

for (const [patterns, path, expected] of [
  [['/a', '/a/*', '/a/**', '/**'], 'a', [0, 2, 3]],
  [['/a', '/a/*', '/a/**', '/**'], 'a/b', [1, 2, 3]],
  [['/**/b', '/**/**/b', '/*/b'], 'a/b', [0, 1, 2]],
  [['/**/b', '/**/**/b', '/*/b'], 'b', [0, 1]],
  [['/a/**/a', '/a/**/a/**'], 'a', []],
  [['/a/**/a', '/a/**/a/**'], 'a/a/x', [1]],
  [['/**/a/**/b/**/c'], 'a/b/a/c/b/c', [0]],
  [['/**/a/**/b/**/c'], 'c/b/a/c', []],
  [['/%61', '/A'], 'a', [0]],
  [['/%2A', '/*'], 'x', [1]],
] as const)
  test(`${path} matches ${expected.length} of ${patterns.join(' ')}`, () => {
    assert.deepEqual(trieOf(patterns).match(path.split('/'), 0, ample()), expected)
  })

test('ten times the patterns do not take ten times the steps', () => {
  const steps = (count: number): number => {
    const budget = ample()
    const trie = trieOf(Array.from({ length: count }, (_, i) => `/**/a/**/b/**/x-${i}`))
    assert.deepEqual(trie.match(Array<string>(200).fill('a'), 0, budget), [])
    return 1_000_000 - budget.left
  }
  assert.equal(steps(1_000), steps(100))
})

/** Each segment of the path wakes up patterns that stay awake. */
const HOSTILE = Array.from({ length: 1_000 }, (_, i) => `/**/s${i % 500}/**/s${i}/**/never`)
const AWAKE = Array.from({ length: 500 }, (_, i) => `s${i}`)

test('the steps for one call are bounded, and a call beyond them is refused', () => {
  const budget = { left: 1_000 }
  assert.deepEqual(trieOf(['/**', ...HOSTILE]).match(AWAKE, 0, budget), [])
  assert.ok(budget.left < 0)
  const allows = (paths: readonly string[]): string => {
    const rules = [
      { methods: ['GET'], paths: ['/**'] },
      { methods: ['GET'], paths },
    ]
    // A second scope, so that the strictest of both is looked for as well.
    const scopes = compileScopes([
      aScope({ rules }),
      aScope({ scope_id: 'scp_2', rules, priority: 200 }),
    ])
    const { segments } = targetOf(`https://x/${AWAKE.join('/')}`)
    const choice = chooseScope(scopes, 'int_a', { method: 'GET', segments, from: 0, readings: [] })
    return choice.kind === 'denied' ? choice.reason : choice.kind
  }
  assert.equal(allows(['/a']), 'allowed')
  assert.equal(allows(HOSTILE), 'path_not_allowed')
})

test('a refusal that needs most of the steps names the nearest rule and the refused reading', () => {
  const start = AWAKE.slice(0, 370)
  const rules = [
    { methods: ['GET'], paths: [`/${start.join('/')}/*`] },
    { methods: ['POST'], paths: [`/${start.join('/')}/*/*`] },
    { methods: ['GET'], paths: HOSTILE },
  ]
  const { segments, split_readings } = targetOf(`https://x/${start.join('/')}/a%2fb`)
  const readings = splitRanges(split_readings, 0)
  const budget = ample()
  const trie = trieOf(rules.flatMap((rule) => rule.paths))
  for (const path of [{ segments, from: 0 }, ...readings])
    trie.match(path.segments, path.from, budget)
  const steps = 1_000_000 - budget.left
  assert.ok(steps > 110_000 && steps < 190_000, `${steps} of 200,000 steps, more than half`)
  const choice = chooseScope(compileScopes([aScope({ rules })]), 'int_a', {
    method: 'GET',
    segments,
    from: 0,
    readings,
  })
  assert.ok(choice.kind === 'denied')
  assert.equal(choice.reason, 'method_not_allowed')
  assert.equal(choice.nearest?.rule, 1)
  assert.equal(choice.reading, readings[0])
})

test('scopes that are compiled in steps are the same', async () => {
  const scopes = [3, 1, 2].map((priority) =>
    aScope({
      scope_id: `scp_${priority}`,
      name: `s${priority}`,
      priority,
      rules: [
        { methods: ['GET'], paths: ['/a'] },
        { methods: ['GET'], paths: ['/b'] },
      ],
    }),
  )
  let pauses = 0
  const compiled = await runStepsWith(compilingScopes(scopes), async () => void pauses++)
  assert.deepEqual(compiled.names, ['s1', 's2', 's3'])
  assert.deepEqual(compiled.names, compileScopes(scopes).names)
  assert.equal(compiled.nodes, compileScopes(scopes).nodes)
  assert.equal(pauses, 3, 'one for the text of each')
})

test('a rule with many long paths is compiled in many steps, and one with many short paths in few', async () => {
  const stepsOf = async (paths: readonly string[]): Promise<number> => {
    const scope = aScope({ rules: [{ methods: ['GET'], paths: [...paths] }] })
    let pauses = 0
    await runStepsWith(compilingScopes([scope]), async () => void pauses++)
    return pauses
  }
  const many = (path: string) => Array.from({ length: 97 }, (_, i) => `/${i}${path}`)
  assert.equal(await stepsOf(many('/x'.repeat(511))), 1 + 2 * 97, 'read and added')
  assert.equal(await stepsOf(many('/X'.repeat(511))), 1 + 4 * 97, 'added in three ways')
  assert.equal(await stepsOf(many(`/${'x'.repeat(2_000)}`)), 1 + 2 * 97, 'of few segments')
  assert.ok((await stepsOf(many(''))) < 10)
})

test('paths that read the same in all ways are compiled once', () => {
  const nodesOf = (path: string): number =>
    compileScopes([aScope({ rules: [{ methods: ['GET'], paths: [path] }] })]).nodes
  assert.equal(nodesOf('/v1/chat/*/**/x'), 5)
  assert.equal(nodesOf('/v1/Chat'), 6, 'written, without case, and split')
  assert.equal(nodesOf('/v1/a%2Fb'), 2 + 3, 'as written and with the slash separating')
})

test('limits of the rules of a scope: all of its paths, and `**` in each; stored rules keep theirs', () => {
  const problems = (paths: readonly string[], hasOldRules = false): string[] => {
    const rules = [{ methods: ['GET'], paths: [...paths] }]
    return checkScopeSettings(aScope({ rules }), 1_000_000, hasOldRules).map(
      ({ path, message }) => `${path} ${message}`,
    )
  }
  const many = Array.from({ length: 1_001 }, (_, i) => `/p${i}`)
  assert.deepEqual(problems(many.slice(1)), [])
  assert.deepEqual(problems(many), ['/rules has 1001 paths in all rules; at most 1000 are allowed'])
  assert.deepEqual(problems(many, true), [])
  assert.deepEqual(problems(['/**/a/**/b/**/c/**']), [])
  assert.deepEqual(problems(['/ok', '/**/a/**/b/**/c/**/d/**']), [
    '/rules/0/paths/1 has more than 4 "**"',
  ])
  assert.deepEqual(problems(['/**/a/**/b/**/c/**/d/**'], true), [])
})
