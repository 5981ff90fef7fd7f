import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LayeredScanner } from '../../core/scanner/layered-scanner.ts'
import type { Pattern } from '../../core/scanner/pattern.ts'
import { ALL_WORDS, BUILT_IN_PATTERNS, builtIn } from '../../core/scanner/patterns/built-in.ts'
import { compilePatterns } from '../../core/scanner/patterns/compile-patterns.ts'

const { patterns, trie } = builtIn()

/** How many groups are open before a place of an expression. */
const depthAt = (expression: string, at: number): number =>
  Array.from(
    expression.slice(0, at).matchAll(/\\.|\[(?:\\.|[^\]\\])*\]|[()]/g),
    ([part]) => (part === '(' ? 1 : part === ')' ? -1 : 0) as number,
  ).reduce((sum, one) => sum + one, 0)

/** The alternatives of an expression outside of all groups. */
const topLevel = (expression: string): string[] => {
  const alternatives = ['']
  for (const [at, character] of Array.from(expression).entries()) {
    if (character === '|' && depthAt(expression, at) === 0) alternatives.push('')
    else alternatives[alternatives.length - 1] += character
  }
  return alternatives
}

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

test('every alternative of a pattern has in it what the pattern says it contains', () => {
  const told = BUILT_IN_PATTERNS.filter((pattern) => pattern.contains !== undefined)
  assert.ok(told.length > 0)
  for (const { name, expression, contains = '' } of told) {
    const rest = expression.replaceAll(contains, '\0')
    for (const alternative of topLevel(rest)) {
      const at = alternative.indexOf('\0')
      assert.ok(at >= 0, `${name}: ${alternative.slice(0, 200)}`)
      // Outside of all groups, and not repeated.
      assert.equal(depthAt(alternative, at), 0, name)
      assert.doesNotMatch(alternative.slice(at + 1), /^[?*{]/, name)
    }
  }
})
