import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fromRoot } from '../../core/system/root.ts'
import { LayeredScanner } from '../../core/scanner/layered-scanner.ts'
import type { Pattern } from '../../core/scanner/pattern.ts'
import { foldBeyondAscii } from '../../core/scanner/text/fold.ts'
import { anyOf } from '../../core/scanner/patterns/any-of.ts'
import { ALL_WORDS, BUILT_IN_PATTERNS, builtIn } from '../../core/scanner/patterns/built-in.ts'
import { compilePatterns } from '../../core/scanner/patterns/compile-patterns.ts'
import { compileSieve } from '../../core/scanner/sieve/compile-sieve.ts'
import { readSieve, shippedSieve, writeSieve } from '../../core/scanner/sieve/stored-sieve.ts'

const { patterns, trie } = builtIn()

const namesIn = (scanner: LayeredScanner, text: string, all: readonly Pattern[]): string[] => {
  const bytes = Buffer.from(text)
  scanner.begin(bytes)
  scanner.text.piece(0, bytes.length, false)
  scanner.finish()
  return scanner.hits.map((hit) => all[hit.pattern]?.name ?? '')
}

test('each pattern finds its examples', () => {
  const scanner = new LayeredScanner(patterns, trie)
  const missed = BUILT_IN_PATTERNS.flatMap((pattern) =>
    pattern.hits
      .filter((text) => !namesIn(scanner, text, BUILT_IN_PATTERNS).includes(pattern.name))
      .map((text) => `${pattern.name}: ${text}`),
  )
  assert.deepEqual(missed, [])
})

test('no pattern finds its near-misses', () => {
  const scanner = new LayeredScanner(patterns, trie)
  const found = BUILT_IN_PATTERNS.flatMap((pattern) =>
    pattern.misses
      .filter((text) => namesIn(scanner, text, BUILT_IN_PATTERNS).includes(pattern.name))
      .map((text) => `${pattern.name}: ${text}`),
  )
  assert.deepEqual(found, [])
})

test('every pattern has examples, near-misses, a unique snake_case name and a gate', () => {
  const names = BUILT_IN_PATTERNS.map((pattern) => pattern.name)
  assert.equal(new Set(names).size, names.length)
  for (const pattern of BUILT_IN_PATTERNS) {
    assert.match(pattern.name, /^[a-z][a-z0-9_]+$/)
    assert.ok(
      pattern.hits.length > 0 && pattern.misses.length > 0 && pattern.gates.length > 0,
      pattern.name,
    )
    assert.ok(pattern.description.length > 10, pattern.name)
  }
})

test('without the gates no near-miss of any pattern would be found that the gates hide', () => {
  const ungated = BUILT_IN_PATTERNS.map((pattern) => ({ ...pattern, gates: [] }))
  const { matcherOf } = compilePatterns(ungated, ALL_WORDS, [[], [], []])
  for (const [index, pattern] of ungated.entries()) {
    for (const text of pattern.misses) {
      assert.equal(
        matcherOf(index).test(text.toLowerCase()),
        false,
        `${index} ${pattern.name}: ${text}`,
      )
    }
  }
})

test('the alternatives of a pattern are together its expression, and each is one by itself', () => {
  const divided = BUILT_IN_PATTERNS.filter((pattern) => pattern.alternatives !== undefined)
  assert.ok(divided.length > 0)
  for (const pattern of divided) {
    const { name, expression, alternatives = [] } = pattern
    assert.equal(anyOf(...alternatives), expression, name)
    // An alternative that ends within a group does not compile.
    const sought = patterns.soughtOf(BUILT_IN_PATTERNS.indexOf(pattern))
    assert.equal(sought.length, alternatives.length, name)
    for (const text of pattern.hits) {
      const bytes = Buffer.from(foldBeyondAscii(text.toLowerCase()))
      assert.ok(
        sought.some((one) => one.test(bytes)),
        text,
      )
    }
  }
})

const sieve = compileSieve(BUILT_IN_PATTERNS, ALL_WORDS)

test('the sieve that is shipped is that of the patterns, and none of other patterns is read', () => {
  assert.deepEqual(shippedSieve(BUILT_IN_PATTERNS, ALL_WORDS), sieve)
  const other = BUILT_IN_PATTERNS.slice(1)
  assert.throws(
    () => readSieve(writeSieve(sieve, BUILT_IN_PATTERNS, ALL_WORDS), other, ALL_WORDS),
    /build the programs again/,
  )
})

test('the sieve hides nothing that an expression finds, wherever a search begins and ends', () => {
  // Every pattern is searched for around each `zz`.
  const open = BUILT_IN_PATTERNS.map((pattern) => ({ ...pattern, gates: [{ word: 'opener' }] }))
  const sieved = compilePatterns(open, { ...ALL_WORDS, opener: 'zz' }, [[], [], []], sieve)
  const plain = { ...sieved, neededOf: (index: number) => sieved.neededOf(index).map(() => -1) }
  let seed = 5
  const random = (limit: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff
    return (seed >> 8) % limit
  }
  const examples = BUILT_IN_PATTERNS.flatMap(({ hits, misses }) => [...hits, ...misses])
  const joints = [
    ' ',
    ' zz ',
    '\n',
    'zz',
    '',
    '. zz. ',
    '\u0438',
    ' \u0438 ',
    '_',
    "'",
    '\u7cfb',
    ' \u2705 ',
  ]
  const part = (text: string): string => {
    const start = random(3) === 0 ? random(text.length) : 0
    return text.slice(start, random(3) === 0 ? start + random(text.length) : text.length)
  }
  let found = 0
  const compare = (text: string): void => {
    const [a, b] = [sieved, plain].map((one) => {
      const scanner = new LayeredScanner(one, trie)
      const bytes = Buffer.from(text)
      scanner.begin(bytes)
      scanner.text.piece(0, bytes.length, false)
      scanner.finish()
      return scanner.hits
    })
    assert.deepEqual(a, b, text)
    found += a?.length ?? 0
  }
  const textOf = (bytes: number): string => {
    let text = 'zz '
    while (text.length < bytes)
      text += part(examples[random(examples.length)] ?? '') + joints[random(joints.length)]
    return text
  }
  for (let round = 0; round < 40; round += 1) compare(textOf(700))
  // The window slides, and cuts a word.
  compare(`${'a'.repeat(65_200)}${textOf(2_000)}`)
  compare(`${textOf(30)}${'b '.repeat(31_700)}${textOf(6_000)}`)
  assert.ok(found > 200, `${found}`)
})

test('the sieve leaves few searches of ordinary text', () => {
  const text = readFileSync(fromRoot('ARCHITECTURE.md'))
  let searches = 0
  let kept = 0
  const counting = {
    ...patterns,
    soughtOf: (index: number) => {
      kept += 1
      return patterns.soughtOf(index)
    },
    neededOf: (index: number) => {
      searches += 1
      return patterns.neededOf(index)
    },
  }
  const scanner = new LayeredScanner(counting, trie)
  scanner.begin(text)
  scanner.text.piece(0, text.length, false)
  scanner.finish()
  assert.ok(searches > 100 && kept < searches / 4, `${kept} of ${searches}`)
})
