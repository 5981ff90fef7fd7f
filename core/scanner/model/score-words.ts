import {
  HALF_STRETCH_WORDS,
  LEAST_WORDS,
  type LearnedModel,
  MISSING_FEATURES,
  MODEL_BITS,
  STRETCH_WORDS,
  WORD_FEATURES,
} from './learned-model.ts'

/** The words with the highest weights, shown as the excerpt. */
const SHOWN_WORDS = 12

/**
 * A text of few words must be more certain, since each decides: `act as a dungeon master and ask me a riddle`. What its score must
 * exceed the threshold by.
 */
const FEW_WORDS = 14
const FEW_WORDS_MARGIN = 0.2
const VERY_FEW_WORDS = 8
const VERY_FEW_WORDS_MARGIN = 0.8

const marginOf = (words: number): number => {
  if (words < VERY_FEW_WORDS) return VERY_FEW_WORDS_MARGIN
  return words < FEW_WORDS ? FEW_WORDS_MARGIN : 0
}

export type LearnedHit = { readonly from: number; readonly to: number; readonly score: number }

/**
 * The last runs of three words. A run that repeats adds nothing, or a text would be suspected for being said often: the score grows with
 * the root of the number of features.
 */
const RUNS = 2_048
const seenRuns = new Int32Array(RUNS)
/** Words of the last block whose run was new. */
let newWords = 0

/** How many different words a text has, as far as it decides what is few. */
const differentWords = (hashes: Int32Array, first: number, end: number): number => {
  const words: number[] = []
  for (let k = first; k < end && words.length < FEW_WORDS; k += 1) {
    const hash = hashes[k] as number
    if (!words.includes(hash)) words.push(hash)
  }
  return words.length
}

/** The features of `learned-model.ts`, written out: a call through an import costs more than the work. */
const sumBlock = (
  weights: Int8Array,
  hashes: Int32Array,
  first: number,
  from: number,
  to: number,
  isMarking: boolean,
): number => {
  const mask = (1 << MODEL_BITS) - 1
  const seen = seenRuns
  let sum = 0
  let fresh = 0
  // What the last two words add, and how many of them count.
  let older = 0
  let newer = 0
  let held = 0
  let before = from > first + 1 ? (hashes[from - 2] as number) : 0
  let last = from > first ? (hashes[from - 1] as number) : 0
  for (let k = from; k < to; k += 1) {
    const hash = hashes[k] as number
    const mixed = Math.imul(hash, 0x9e3779b1)
    let pair = mixed ^ last
    pair = Math.imul(pair ^ (pair >>> 15), 0x85ebca6b)
    pair ^= pair >>> 13
    let run = Math.imul(pair, 0x9e3779b1) ^ before
    run = Math.imul(run ^ (run >>> 15), 0x85ebca6b)
    const slot = run & (RUNS - 1)
    if (seen[slot] === run && isMarking) {
      // The two words before belong to what repeats.
      older = newer = 0
      fresh -= held
      held = 0
      before = last
      last = hash
      continue
    }
    if (isMarking) seen[slot] = run
    fresh += 1
    if (held < 2) held += 1
    sum += older
    older = newer
    let word = mixed ^ 1
    word = Math.imul(word ^ (word >>> 15), 0x85ebca6b)
    newer = weights[(word ^ (word >>> 13)) & mask] as number
    if (k > first) newer += weights[pair & mask] as number
    let skip = mixed ^ Math.imul(before, 3)
    skip = Math.imul(skip ^ (skip >>> 15), 0x85ebca6b)
    if (k > first + 1)
      newer +=
        (weights[(skip ^ (skip >>> 13)) & mask] as number) +
        (weights[(run ^ (run >>> 13)) & mask] as number)
    before = last
    last = hash
  }
  newWords = fresh
  return sum + older + newer
}

const heaviest = (
  weights: Int8Array,
  hashes: Int32Array,
  from: number,
  to: number,
): Omit<LearnedHit, 'score'> => {
  let best = Number.NEGATIVE_INFINITY
  let start = from
  for (let at = from; at + SHOWN_WORDS <= to || at === from; at += 1) {
    const sum = sumBlock(weights, hashes, from, at, Math.min(to, at + SHOWN_WORDS), false)
    if (sum <= best) continue
    best = sum
    start = at
  }
  return { from: start, to: Math.min(to, start + SHOWN_WORDS) }
}

/**
 * Scores the words from `first` to `end` in sections that overlap by half. @returns the words with the highest weights in the
 * highest section above the threshold, and its score without the margin of few words; or null
 */
export const scoreWords = (
  model: LearnedModel,
  hashes: Int32Array,
  first: number,
  end: number,
): LearnedHit | null => {
  const count = end - first
  if (count < LEAST_WORDS) return null
  const { weights, scale, bias, threshold } = model
  const margin = marginOf(differentWords(hashes, first, end))
  let best = threshold + margin
  let hit: { from: number; to: number } | null = null
  let before = 0
  let wordsBefore = 0
  seenRuns.fill(0)
  for (let from = first; from < end; from += HALF_STRETCH_WORDS) {
    const to = Math.min(end, from + HALF_STRETCH_WORDS)
    const sum = sumBlock(weights, hashes, first, from, to, true)
    const words = newWords
    const start = from === first ? first : from - HALF_STRETCH_WORDS
    const isLast = to === end
    if (from > first || isLast) {
      const missing = start === first ? MISSING_FEATURES : 0
      const features = WORD_FEATURES * (wordsBefore + words) - missing
      const score = (scale * (before + sum)) / Math.sqrt(Math.max(1, features)) + bias
      if (score > best) {
        best = score
        hit = { from: start, to: Math.min(to, start + STRETCH_WORDS) }
      }
    }
    before = sum
    wordsBefore = words
  }
  return hit === null
    ? null
    : { ...heaviest(weights, hashes, hit.from, hit.to), score: best - margin }
}
