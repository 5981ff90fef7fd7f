import { createReadStream, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { fromRoot } from '../core/root.ts'
import {
  HALF_STRETCH_WORDS,
  LEAST_WORDS,
  type LearnedModel,
  MODEL_BITS,
  pairFeature,
  STRETCH_WORDS,
  wordFeature,
  writeModel,
} from '../core/scanner/model/learned-model.ts'
import { builtIn } from '../core/scanner/patterns/built-in.ts'
import { TextScanner } from '../core/scanner/text/text-scanner.ts'
import { hashWord } from '../core/scanner/text/token-table.ts'

/**
 * Trains the learned model:
 *   node dist/bench/train-model.js [--cross-validate] [--false-alarms 0.0015] [--suspicion 0.006] [--out FILE] FILE.jsonl …
 * Each line is {"text", "label": 1 (attack) or 0, "source"}, as `extract-corpus` writes them. Whole families of sources
 * are left out to choose the two thresholds, so that they hold for texts of other origin. A family is what comes before
 * the first hyphen of a source. With --cross-validate nothing is written. The same files give the same weights.
 */

const FOLDS = 6
const EPOCHS = 3
/** Short harmless texts are rare in collections and common in life: parts of long ones stand in for them. */
const FRAGMENTS = 3
const FRAGMENT_WORDS = { least: LEAST_WORDS, most: 16 }
const RATE = 0.15
const BIAS_RATE = 0.02
const DECAY = 1e-4
/** Attacks weigh as much in all as so many parts of the harmless texts, but none more than the limit. */
const ATTACK_SHARE = 0.3
const ATTACK_WEIGHT = 6

type Text = {
  readonly is_attack: boolean
  readonly family: string
  readonly stretches: readonly Int32Array[]
}

let seed = 1
const random = (limit: number): number => {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff
  return (seed >> 8) % limit
}

let words: number[][] = []
const scanner = new TextScanner(
  builtIn().patterns,
  () => {},
  (hashes, count) => {
    words.push([...hashes.subarray(0, count)])
    return null
  },
)

/** What an operator says is not judged, so it is not learned either. */
const isOperator = (value: object): boolean =>
  /^(?:system|developer)$/.test(String((value as { role?: unknown }).role))

/** The strings of a JSON text, or the text itself: what the scanner would see as pieces. */
const piecesOf = (text: string): string[] => {
  if (!/^\s*[[{]/.test(text)) return [text]
  const strings: string[] = []
  const collect = (value: unknown): void => {
    if (typeof value === 'string') strings.push(value)
    else if (typeof value === 'object' && value !== null && !isOperator(value)) {
      for (const one of Object.values(value)) collect(one)
    }
  }
  try {
    collect(JSON.parse(text))
    return strings
  } catch {
    return [text]
  }
}

const featuresOf = (hashes: readonly number[]): Int32Array => {
  const features: number[] = []
  for (const [index, hash] of hashes.entries()) {
    features.push(wordFeature(hash))
    if (index > 0) features.push(pairFeature(hash, hashes[index - 1] as number))
  }
  return Int32Array.from(features)
}

const fragmentsOf = (hashes: readonly number[]): Int32Array[] =>
  hashes.length <= FRAGMENT_WORDS.most
    ? []
    : Array.from({ length: FRAGMENTS }, () => {
        const { least, most } = FRAGMENT_WORDS
        const length = least + random(most - least + 1)
        const at = random(hashes.length - length)
        return featuresOf(hashes.slice(at, at + length))
      })

const stretchesOf = (text: string, isAttack: boolean): Int32Array[] => {
  words = []
  for (const piece of piecesOf(text)) {
    const bytes = Buffer.from(piece)
    scanner.begin(bytes)
    scanner.piece(0, bytes.length, false)
    scanner.finish()
  }
  return words
    .filter((hashes) => hashes.length >= LEAST_WORDS)
    .flatMap((hashes) => {
      const stretches: Int32Array[] = []
      for (
        let at = 0;
        at === 0 || at + HALF_STRETCH_WORDS < hashes.length;
        at += HALF_STRETCH_WORDS
      ) {
        stretches.push(featuresOf(hashes.slice(at, at + STRETCH_WORDS)))
      }
      return isAttack ? stretches : [...stretches, ...fragmentsOf(hashes)]
    })
}

type Floats = { readonly weights: Float32Array; bias: number }

/** Logistic regression with Adagrad; a stretch is scaled to length one, as it is when it is scored. */
const train = (texts: readonly Text[]): Floats => {
  const weights = new Float32Array(1 << MODEL_BITS)
  const squares = new Float32Array(1 << MODEL_BITS).fill(1e-6)
  const model: Floats = { weights, bias: -2 }
  const examples = texts.flatMap((text) =>
    text.stretches.map((features) => ({ features, is_attack: text.is_attack })),
  )
  const attacks = examples.filter((example) => example.is_attack).length
  const weight = Math.min(
    ATTACK_WEIGHT,
    ((examples.length - attacks) / Math.max(1, attacks)) * ATTACK_SHARE,
  )
  for (let epoch = 0; epoch < EPOCHS; epoch += 1) {
    for (let i = examples.length - 1; i > 0; i -= 1) {
      const j = random(i + 1)
      ;[examples[i], examples[j]] = [
        examples[j] as (typeof examples)[number],
        examples[i] as (typeof examples)[number],
      ]
    }
    for (const { features, is_attack } of examples) {
      const length = 1 / Math.sqrt(features.length)
      let sum = 0
      for (const feature of features) sum += weights[feature] as number
      const error =
        ((is_attack ? 1 : 0) - 1 / (1 + Math.exp(-(sum * length + model.bias)))) *
        (is_attack ? weight : 1)
      model.bias += BIAS_RATE * error
      for (const feature of features) {
        const gradient = error * length - DECAY * (weights[feature] as number)
        squares[feature] = (squares[feature] as number) + gradient * gradient
        weights[feature] =
          (weights[feature] as number) + (RATE * gradient) / Math.sqrt(squares[feature] as number)
      }
    }
  }
  return model
}

const scoreOf = (model: Floats, text: Text): number => {
  let best = Number.NEGATIVE_INFINITY
  for (const features of text.stretches) {
    let sum = 0
    for (const feature of features) sum += model.weights[feature] as number
    best = Math.max(best, sum / Math.sqrt(features.length) + model.bias)
  }
  return best
}

/** Scores of each text by a model that has seen nothing of its family. */
const crossScores = (texts: readonly Text[]): { text: Text; score: number }[] => {
  const families = [...new Set(texts.map((text) => text.family))].sort()
  const foldOf = (text: Text): number => families.indexOf(text.family) % FOLDS
  return Array.from({ length: FOLDS }, (_, fold) => {
    const model = train(texts.filter((text) => foldOf(text) !== fold))
    return texts
      .filter((text) => foldOf(text) === fold)
      .map((text) => ({ text, score: scoreOf(model, text) }))
  }).flat()
}

const quantize = (
  { weights, bias }: Floats,
  threshold: number,
  suspicion: number,
): LearnedModel => {
  const largest = weights.reduce((most, weight) => Math.max(most, Math.abs(weight)), 0)
  const scale = largest / 127
  return {
    weights: Int8Array.from(weights, (weight) => Math.round(weight / scale)),
    scale,
    bias,
    threshold,
    suspicion,
  }
}

const SHINGLE_WORDS = 8

/** Which family a run of eight words was first seen in. */
const shingles = new Map<number, string>()

/** Whether half of the runs of eight words of a text stand in another family already. */
const isCopy = (text: string, family: string): boolean => {
  const hashes = Array.from(text.toLowerCase().matchAll(/[\p{L}\p{N}]+/gu), ([word]) =>
    hashWord(word),
  )
  let copied = 0
  const runs = Math.max(0, hashes.length - SHINGLE_WORDS + 1)
  for (let at = 0; at < runs; at += 1) {
    let run = 0
    for (let k = at; k < at + SHINGLE_WORDS; k += 1)
      run = (Math.imul(run, 0x01000193) ^ (hashes[k] as number)) | 0
    const first = shingles.get(run)
    if (first === undefined) shingles.set(run, family)
    else if (first !== family) copied += 1
  }
  return runs > 0 && copied * 2 >= runs
}

const readTexts = async (files: readonly string[]): Promise<Text[]> => {
  const texts: Text[] = []
  for (const file of files) {
    for await (const line of createInterface({ input: createReadStream(file) })) {
      if (line.trim() === '') continue
      const { text, label, source } = JSON.parse(line) as {
        text: string
        label: number
        source: string
      }
      const family = source.replace(/-.*/, '')
      if (isCopy(text, family)) continue
      const stretches = stretchesOf(text, label === 1)
      if (stretches.length > 0) texts.push({ is_attack: label === 1, family, stretches })
    }
  }
  return texts
}

const { values: options, positionals: files } = parseArgs({
  allowPositionals: true,
  options: {
    'cross-validate': { type: 'boolean', default: false },
    'false-alarms': { type: 'string', default: '0.0015' },
    suspicion: { type: 'string', default: '0.006' },
    out: { type: 'string', default: fromRoot('core/scanner/model/weights.bin') },
  },
})
if (files.length === 0) {
  console.error(
    'usage: train-model [--cross-validate] [--false-alarms 0.0015] [--suspicion 0.006] [--out FILE] FILE.jsonl …',
  )
  process.exit(2)
}
const texts = await readTexts(files)
const scored = crossScores(texts)
const harmless = scored
  .filter(({ text }) => !text.is_attack)
  .map(({ score }) => score)
  .sort((a, b) => b - a)
const attacks = scored.filter(({ text }) => text.is_attack)
const thresholdAt = (rate: number): number => {
  const threshold = harmless[Math.floor(harmless.length * rate)] ?? 0
  const found = attacks.filter(({ score }) => score > threshold).length
  console.log(
    `${texts.length} texts; families left out: threshold ${threshold.toFixed(2)}, ${found} of ${attacks.length} attacks at ${(rate * 100).toFixed(2)} % false alarms`,
  )
  return threshold
}
const threshold = thresholdAt(Number(options['false-alarms']))
const suspicion = thresholdAt(Number(options.suspicion))
if (!options['cross-validate']) {
  const bytes = writeModel(quantize(train(texts), threshold, suspicion))
  writeFileSync(options.out, bytes)
  console.log(`wrote ${bytes.length} bytes`)
}
