import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LayeredScanner } from '../../core/scanner/layered-scanner.ts'
import {
  type LearnedModel,
  learnedModel,
  MODEL_BITS,
  pairFeature,
  readModel,
  wordFeature,
  writeModel,
} from '../../core/scanner/model/learned-model.ts'
import { scoreWords } from '../../core/scanner/model/score-words.ts'
import { builtIn } from '../../core/scanner/patterns/built-in.ts'
import { LEARNED_PATTERN } from '../../core/scanner/text/text-scanner.ts'
import { hashWord } from '../../core/scanner/text/token-table.ts'

const modelOf = (marked: readonly string[]): LearnedModel => {
  const weights = new Int8Array(1 << MODEL_BITS)
  const [first, second] = marked.map(hashWord)
  weights[wordFeature(second as number)] = 40
  weights[pairFeature(second as number, first as number)] = 60
  return { weights, scale: 1, bias: 0, threshold: 10, suspicion: 10 }
}

test('the shipped model is smaller than four megabytes and survives its file format', () => {
  const model = learnedModel()
  const bytes = writeModel(model)
  assert.ok(bytes.length < 4_000_000)
  assert.deepEqual(readModel(bytes), { ...model, weights: readModel(bytes).weights })
  assert.throws(() => readModel(Buffer.from('something else')))
})

test('a text that holds the words that weigh is found, and the excerpt shows them', () => {
  const { patterns, trie } = builtIn()
  const scanner = new LayeredScanner(patterns, trie)
  scanner.model = modelOf(['velvet', 'pickaxe'])
  const text = `${'a plain word or two '.repeat(60)}with the velvet pickaxe there ${'and more of it '.repeat(60)}`
  scanner.begin(Buffer.from(text))
  scanner.text.piece(0, text.length, false)
  scanner.finish()
  const hit = scanner.hits.find((one) => one.pattern === LEARNED_PATTERN)
  assert.match(text.slice(hit?.start, hit?.end), /velvet pickaxe/)
})

test('a stretch is scored alike wherever it stands in a longer text', () => {
  const model = modelOf(['velvet', 'pickaxe'])
  const filler = hashWord('filler')
  for (const at of [0, 40, 47, 48, 95, 96, 200]) {
    const hashes = new Int32Array(300).fill(filler)
    hashes[at] = hashWord('velvet')
    hashes[at + 1] = hashWord('pickaxe')
    const hit = scoreWords({ ...model, threshold: 5 }, hashes, 0, hashes.length)
    assert.ok(hit !== null && hit.from <= at + 1 && hit.to > at, `${at}`)
  }
})

test('texts of a few words are not judged', () => {
  const model = modelOf(['velvet', 'pickaxe'])
  assert.equal(scoreWords(model, Int32Array.from(['velvet', 'pickaxe'].map(hashWord)), 0, 2), null)
})

test('few words need a higher score', () => {
  const model = modelOf(['velvet', 'pickaxe'])
  const textOf = (words: number): Int32Array =>
    Int32Array.from({ length: words }, (_, i) => hashWord(['velvet', 'pickaxe'][i] ?? `word${i}`))
  const scoreOf = (words: number): number => {
    let threshold = 3
    while (scoreWords({ ...model, threshold }, textOf(words), 0, words) !== null) threshold += 1
    return threshold
  }
  const isFound = (words: number, score: number): boolean => {
    const scaled = { ...model, scale: score / scoreOf(words), threshold: 1.2 }
    return scoreWords(scaled, textOf(words), 0, words) !== null
  }
  assert.deepEqual(
    [7, 8, 13, 14].map((words) => [0.7, 1, 1.3, 1.7, 3.5].map((score) => isFound(words, score))),
    [
      [false, false, false, false, true],
      [false, false, false, true, true],
      [false, false, false, true, true],
      [false, false, true, true, true],
    ],
  )
})
