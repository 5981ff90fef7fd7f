import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LayeredScanner } from '../../core/scanner/layered-scanner.ts'
import type { Pattern } from '../../core/scanner/pattern.ts'
import { foldBeyondAscii } from '../../core/scanner/text/fold.ts'
import { anyOf } from '../../core/scanner/patterns/any-of.ts'
import { ALL_WORDS, BUILT_IN_PATTERNS, builtIn } from '../../core/scanner/patterns/built-in.ts'
import { compilePatterns } from '../../core/scanner/patterns/compile-patterns.ts'

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
