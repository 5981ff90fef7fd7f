import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fromRoot } from '../../system/root.ts'
import type { Pattern } from '../pattern.ts'
import { expressionsOf, type WordClasses } from '../patterns/compile-patterns.ts'
import { hashTable, type NeededWords, withIndexes, type WordSieve } from './word-sieve.ts'

/** Written by the build. */
export const SIEVE_FILE = fromRoot('dist', 'core', 'scanner', 'word-sieve.bin')

const DIGEST_BYTES = 32
const CLASS_BITS = 8
const ARRAYS = ['first', 'last', 'next', 'beyond', 'steps'] as const

const digestOf = (patterns: readonly Pattern[], classes: WordClasses): Buffer =>
  createHash('sha256')
    .update(JSON.stringify([patterns.map(expressionsOf), classes]))
    .digest()

/** The digest of the patterns, and then numbers: keys with their values, and of each expression its arrays, each with its length. */
export const writeSieve = (
  { keys, values, count, needed }: WordSieve,
  patterns: readonly Pattern[],
  classes: WordClasses,
): Buffer => {
  const pairs = Array.from(keys).flatMap((key, at) => (key === 0 ? [] : [key, values[at] ?? 0]))
  const numbers = [count, pairs.length, ...pairs]
  for (const one of needed) {
    numbers.push(one?.rows ?? 0)
    if (one === null) continue
    for (const name of ARRAYS) numbers.push(one[name].length, ...one[name])
    const known = Array.from(one.classes, (own, word) => (word << CLASS_BITS) | own)
    const words = known.filter((_, word) => one.classes[word] !== 0)
    numbers.push(words.length, ...words)
  }
  return Buffer.concat([digestOf(patterns, classes), Buffer.from(Int32Array.from(numbers).buffer)])
}

/** @throws if the file is one of other patterns */
export const readSieve = (
  bytes: Buffer,
  patterns: readonly Pattern[],
  classes: WordClasses,
): WordSieve => {
  if (!digestOf(patterns, classes).equals(bytes.subarray(0, DIGEST_BYTES)))
    throw new Error(`${SIEVE_FILE} is not of these patterns: build the programs again`)
  const numbers = new Int32Array(Uint8Array.from(bytes.subarray(DIGEST_BYTES)).buffer)
  let at = 0
  const number = (): number => numbers[at++] as number
  const array = (): Int32Array => {
    const length = number()
    at += length
    return numbers.subarray(at - length, at)
  }
  const count = number()
  const table = hashTable(array())
  const needed: (NeededWords | null)[] = []
  while (at < numbers.length) {
    const rows = number()
    if (rows === 0) {
      needed.push(null)
      continue
    }
    const [first, last, next, beyond, steps] = [array(), array(), array(), array(), array()]
    const classes = new Uint8Array(count + 1)
    for (const pair of array()) classes[pair >> CLASS_BITS] = pair & ((1 << CLASS_BITS) - 1)
    needed.push(withIndexes({ rows, first, last, next, beyond, steps, classes }))
  }
  return { ...table, count, needed }
}

export const shippedSieve = (patterns: readonly Pattern[], classes: WordClasses): WordSieve =>
  readSieve(readFileSync(SIEVE_FILE), patterns, classes)
