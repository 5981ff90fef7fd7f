import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fromRoot } from '../../system/root.ts'
import type { Pattern } from '../pattern.ts'
import { expressionsOf, type WordClasses } from '../patterns/compile-patterns.ts'
import { tableOfWords, type WordSieve } from './word-sieve.ts'

/** Written by the build. */
export const SIEVE_FILE = fromRoot('dist', 'core', 'scanner', 'word-sieve.bin')

const DIGEST_BYTES = 32
const CLASS_BITS = 8

const digestOf = (patterns: readonly Pattern[], classes: WordClasses): Buffer =>
  createHash('sha256')
    .update(JSON.stringify([patterns.map(expressionsOf), classes]))
    .digest()

/** The digest of the patterns, and then arrays of numbers, each with its length; of the classes only those that are any. */
export const writeSieve = (
  { keys, values, count, begins, data, classes }: WordSieve,
  patterns: readonly Pattern[],
  lists: WordClasses,
): Buffer => {
  const pairs = Array.from(keys).flatMap((key, at) => (key === 0 ? [] : [key, values[at] ?? 0]))
  const known = Array.from(classes).flatMap((one, at) =>
    one === 0 ? [] : [(at << CLASS_BITS) | one],
  )
  const arrays = [[count], pairs, begins, data, known].flatMap((one) => [one.length, ...one])
  return Buffer.concat([digestOf(patterns, lists), Buffer.from(Int32Array.from(arrays).buffer)])
}

/** @throws if the file is one of other patterns */
export const readSieve = (
  bytes: Buffer,
  patterns: readonly Pattern[],
  lists: WordClasses,
): WordSieve => {
  if (!digestOf(patterns, lists).equals(bytes.subarray(0, DIGEST_BYTES)))
    throw new Error(`${SIEVE_FILE} is not of these patterns: build the programs again`)
  const numbers = new Int32Array(Uint8Array.from(bytes.subarray(DIGEST_BYTES)).buffer)
  let at = 0
  const array = (): Int32Array => {
    const first = at + 1
    at = first + (numbers[at] as number)
    return numbers.subarray(first, at)
  }
  const [count = 0] = array()
  const table = tableOfWords(array())
  const [begins, data] = [array(), array()]
  const classes = new Uint8Array(begins.length * (count + 1))
  for (const one of array()) classes[one >> CLASS_BITS] = one & ((1 << CLASS_BITS) - 1)
  return { ...table, count, begins, data, classes }
}

export const shippedSieve = (patterns: readonly Pattern[], classes: WordClasses): WordSieve =>
  readSieve(readFileSync(SIEVE_FILE), patterns, classes)
