import { createReadStream, readFileSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { fromRoot } from '../core/system/root.ts'
import {
  HALF_STRETCH_WORDS,
  LEAST_WORDS,
  type LearnedModel,
  MODEL_BITS,
  pairFeature,
  readModel,
  runFeature,
  STRETCH_WORDS,
  skipFeature,
  wordFeature,
  writeModel,
} from '../core/scanner/model/learned-model.ts'
import { builtIn } from '../core/scanner/patterns/built-in.ts'
import { TextScanner } from '../core/scanner/text/text-scanner.ts'
import { hashWord } from '../core/scanner/text/token-table.ts'
import { everydaySentences } from './everyday-sentences.ts'

/**
 * Trains the learned model:
 *   node dist/bench/train-model.js [--cross-validate] [--from FILE] [--threshold 1.0] [--suspicion 0.6] [--out FILE] [--scores FILE] FILE.jsonl …
 * Each line is {"text", "label": 1 (attack) or 0, "source"}, as `extract-corpus` writes them. The same files
 * give the same weights. With --cross-validate no model is written: whole families of sources, which are what comes before the
 * first hyphen of a source, are left out to print what the two thresholds find and refuse of texts of other origin. `--scores`
 * writes the score, label, source and words of each text, left out. `--from` continues with the weights of a model, in small steps: for
 * texts that were found later, beside enough of those that it was made from.
 */

const FOLDS = 4
const EPOCHS = 6
/** Short harmless texts are rare in collections and common in life: parts of long ones stand in for them. */
const FRAGMENTS = 3
const FRAGMENT_WORDS = { least: LEAST_WORDS, most: 16 }
const RATE = 0.1
const BIAS_RATE = 0.01
const DECAY = 1e-5
const FIRST_SQUARE = 1e-4
/** What continued training leaves as it is: sections of attacks that are found with this margin, and harmless ones this far below. */
const CONTINUED = { square: 1e-1, margin: 0.2, below: 0.15 }
/** Attacks weigh as much in all as the harmless texts, but none more than the limit. */
const ATTACK_WEIGHT = 6
/** Attacks of a family of this many texts count once, those of smaller families more, up to the limit. */
const USUAL_FAMILY = 200
const FAMILY_WEIGHT = 4
/** A feature of one family says more about the family than about attacks. */
const LEAST_FAMILIES = 2
/** Families under two names: the same languages, translated by the same machine. */
const FAMILY_NAMES: Readonly<Record<string, string>> = { frr: 'cyberseceval' }
/**
 * Texts of `bench/corpus/written/`: each source is an intent or a language of its own, so each counts as a family. Their harmless
 * texts stand next to their attacks, so they weigh as much as these.
 */
const WRITTEN = 'written'
/** Texts that are marked as harmless and are half attacks, or that a scope gives as the system message. */
const NOT_FOR_THRESHOLDS =
  /^(?:neuralchemy-harmless|wildguard-harmless|frr-translated|leaked-system-prompts|cursorrules|awesome-(?!compose)|anthropic-skills|gpteacher-roleplay|wstg|owasp-|docs|everyday)/

type Text = {
  readonly is_attack: boolean
  /** What comes before the first hyphen of the source: left out as a whole, and searched for copies. */
  readonly origin: string
  /** In how many of these a feature occurs decides whether it counts. */
  readonly family: string
  readonly source: string
  readonly words: number
  readonly stretches: readonly Int32Array[]
  /** Excerpts that are learned in addition, and not scored. */
  readonly fragments: readonly Int32Array[]
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
  (hashes, first, end) => {
    words.push([...hashes.subarray(first, end)])
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

/** The features of the words from `from` to `to`, which may look back beyond `from`. */
const featuresOf = (hashes: readonly number[], from: number, to: number): Int32Array => {
  const features: number[] = []
  for (let k = from; k < Math.min(to, hashes.length); k += 1) {
    const hash = hashes[k] as number
    features.push(wordFeature(hash))
    const before = hashes[k - 1]
    if (before === undefined) continue
    features.push(pairFeature(hash, before))
    const first = hashes[k - 2]
    if (first !== undefined)
      features.push(skipFeature(hash, first), runFeature(hash, before, first))
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
        return featuresOf(hashes, at, at + length)
      })

const wordsOf = (text: string): number[][] => {
  words = []
  for (const piece of piecesOf(text)) {
    const bytes = Buffer.from(piece)
    scanner.begin(bytes)
    scanner.piece(0, bytes.length, false)
    scanner.finish()
  }
  return words.filter((hashes) => hashes.length >= LEAST_WORDS)
}

const stretchesOf = (hashes: readonly number[]): Int32Array[] => {
  const stretches: Int32Array[] = []
  for (let at = 0; at === 0 || at + HALF_STRETCH_WORDS < hashes.length; at += HALF_STRETCH_WORDS)
    stretches.push(featuresOf(hashes, at, at + STRETCH_WORDS))
  return stretches
}

type Floats = { readonly weights: Float32Array; bias: number }
type Example = {
  readonly features: Int32Array
  readonly is_attack: boolean
  readonly weight: number
}

/** In how many families each feature occurs, up to the number that is asked for. */
const countFamilies = (texts: readonly Text[]): Uint8Array => {
  const families = [...new Set(texts.map(({ family }) => family))]
  const last = new Int16Array(1 << MODEL_BITS).fill(-1)
  const count = new Uint8Array(1 << MODEL_BITS)
  for (const [number, family] of families.entries()) {
    for (const text of texts) {
      if (text.family !== family) continue
      for (const features of text.stretches) {
        for (const feature of features) {
          if (last[feature] === number) continue
          last[feature] = number
          count[feature] = Math.min(LEAST_FAMILIES, (count[feature] as number) + 1)
        }
      }
    }
  }
  return count
}

/** The sections of an attack share its weight: most hold only what stands around it. */
const examplesOf = (texts: readonly Text[]): Example[] => {
  const sizes = new Map<string, number>()
  for (const { family, is_attack } of texts)
    if (is_attack) sizes.set(family, (sizes.get(family) ?? 0) + 1)
  const weightOf = ({ origin, family, is_attack, stretches }: Text): number => {
    if (origin === WRITTEN) return is_attack ? 1 / Math.sqrt(stretches.length) : ATTACK_WEIGHT
    return is_attack
      ? Math.min(FAMILY_WEIGHT, Math.sqrt(USUAL_FAMILY / (sizes.get(family) ?? 1))) /
          Math.sqrt(stretches.length)
      : 1
  }
  const examples = texts.flatMap((text) =>
    [...text.stretches, ...text.fragments].map((features) => ({
      features,
      is_attack: text.is_attack,
      weight: weightOf(text),
    })),
  )
  const total = (isAttack: boolean): number =>
    examples.reduce((sum, one) => sum + (one.is_attack === isAttack ? one.weight : 0), 0)
  const scale = Math.min(ATTACK_WEIGHT, total(false) / Math.max(1, total(true)))
  return examples.map((one) => (one.is_attack ? { ...one, weight: one.weight * scale } : one))
}

const shuffle = <Item>(items: Item[]): void => {
  for (let i = items.length - 1; i > 0; i -= 1) {
    const j = random(i + 1)
    const item = items[i] as Item
    items[i] = items[j] as Item
    items[j] = item
  }
}

const sumOf = (weights: Float32Array, features: Int32Array): number => {
  let sum = 0
  for (const feature of features) sum += weights[feature] as number
  return sum
}

const isSettled = (isAttack: boolean, above: number): boolean =>
  isAttack ? above > CONTINUED.margin : above < -CONTINUED.below

/** Logistic regression with Adagrad; a stretch is scaled to length one, as it is when it is scored. */
const train = (texts: readonly Text[], from: LearnedModel | null = null): Floats => {
  seed = 1
  const weights = Float32Array.from(
    from?.weights ?? new Int8Array(1 << MODEL_BITS),
    (weight) => weight * (from?.scale ?? 0),
  )
  const squares = new Float32Array(1 << MODEL_BITS).fill(
    from === null ? FIRST_SQUARE : CONTINUED.square,
  )
  const model: Floats = { weights, bias: from?.bias ?? -2 }
  const families = countFamilies(texts)
  // What the model knows counts already.
  for (let k = 0; k < weights.length; k += 1) if (weights[k] !== 0) families[k] = LEAST_FAMILIES
  const scoreIn = ({ features }: Example): number =>
    sumOf(weights, features) / Math.sqrt(features.length) + model.bias
  const examples =
    from === null
      ? examplesOf(texts)
      : // What was not found before is not learned here, so that nothing else changes.
        examplesOf(texts)
          .filter((one) => !one.is_attack || scoreIn(one) > from.threshold)
          .map((one) => ({ ...one, weight: 1 }))
  for (let epoch = 0; epoch < EPOCHS; epoch += 1) {
    shuffle(examples)
    for (const example of examples) {
      const { features, is_attack, weight } = example
      const length = 1 / Math.sqrt(features.length)
      const score = scoreIn(example)
      if (from !== null && isSettled(is_attack, score - from.threshold)) continue
      const error = ((is_attack ? 1 : 0) - 1 / (1 + Math.exp(-score))) * weight
      if (from === null) model.bias += BIAS_RATE * error
      for (const feature of features) {
        if ((families[feature] as number) < LEAST_FAMILIES) continue
        const gradient = error * length - (from === null ? DECAY : 0) * (weights[feature] as number)
        squares[feature] = (squares[feature] as number) + gradient * gradient
        weights[feature] =
          (weights[feature] as number) + (RATE * gradient) / Math.sqrt(squares[feature] as number)
      }
    }
  }
  return model
}

const scoreOf = (model: Floats, text: Text): number =>
  text.stretches.reduce(
    (best, features) =>
      Math.max(best, sumOf(model.weights, features) / Math.sqrt(features.length) + model.bias),
    Number.NEGATIVE_INFINITY,
  )

/** Scores of each text by a model that has seen nothing of its family. */
const crossScores = (texts: readonly Text[]): { text: Text; score: number }[] => {
  const attacking = new Set(texts.filter((text) => text.is_attack).map((text) => text.origin))
  const families = [...new Set(texts.map((text) => text.origin))].sort()
  const inOrder = [
    ...families.filter((family) => attacking.has(family)),
    ...families.filter((family) => !attacking.has(family)),
  ]
  const foldOf = (text: Text): number => inOrder.indexOf(text.origin) % FOLDS
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

/** Harmless texts are hardly ever encoded in collections and attacks often are: an encoding must not be the sign of an attack. */
const ENCODED_EVERY = 25
const ENCODED_CHARACTERS = 160
const ENCODINGS: readonly ((text: string) => string)[] = [
  (text) => Array.from(Buffer.from(text), (code) => `chr(${code})`).join('+'),
  (text) => Array.from(Buffer.from(text), (code) => `chr(0x${code.toString(16)})`).join('+'),
  (text) =>
    Array.from(Buffer.from(text), (code) => `U+${code.toString(16).padStart(4, '0')}`).join(' '),
  (text) => [...Buffer.from(text)].join(' '),
  (text) => Array.from(Buffer.from(text), (code) => code.toString(16)).join(' '),
  (text) => Array.from(Buffer.from(text), (code) => code.toString(2).padStart(8, '0')).join(' '),
  (text) => `Decode: ${Buffer.from(text).toString('base64')}`,
]

let encoded = 0
const encodedForm = (text: string): string | null => {
  encoded += 1
  if (encoded % ENCODED_EVERY !== 0) return null
  const encode = ENCODINGS[(encoded / ENCODED_EVERY) % ENCODINGS.length]
  return encode?.(text.slice(0, ENCODED_CHARACTERS)) ?? null
}

const everydayTexts = (): Text[] =>
  everydaySentences().flatMap((text) => {
    const strings = wordsOf(text)
    const words = strings.reduce((sum, hashes) => sum + hashes.length, 0)
    const stretches = strings.flatMap(stretchesOf)
    const source = 'everyday'
    return words === 0
      ? []
      : [
          {
            is_attack: false,
            origin: source,
            family: source,
            source,
            words,
            stretches,
            fragments: [],
          },
        ]
  })

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
      const name = source.replace(/-.*/, '')
      const origin = FAMILY_NAMES[name] ?? name
      const family = origin === WRITTEN ? source : origin
      if (isCopy(text, origin)) continue
      const other = label === 1 ? null : encodedForm(text)
      const strings = wordsOf(text)
      if (strings.length === 0) continue
      texts.push({
        is_attack: label === 1,
        origin,
        family,
        source,
        words: strings.reduce((sum, hashes) => sum + hashes.length, 0),
        stretches: strings.flatMap(stretchesOf),
        fragments:
          label === 1
            ? []
            : [
                ...strings.flatMap(fragmentsOf),
                ...(other === null ? [] : wordsOf(other).flatMap(stretchesOf)),
              ],
      })
    }
  }
  return texts
}

const { values: options, positionals: files } = parseArgs({
  allowPositionals: true,
  options: {
    'cross-validate': { type: 'boolean', default: false },
    threshold: { type: 'string', default: '1.0' },
    suspicion: { type: 'string', default: '0.6' },
    from: { type: 'string' },
    out: { type: 'string', default: fromRoot('core/scanner/model/weights.bin') },
    scores: { type: 'string' },
  },
})
if (files.length === 0) {
  console.error(
    'usage: train-model [--cross-validate] [--from FILE] [--threshold 1.0] [--suspicion 0.6] [--out FILE] FILE.jsonl …',
  )
  process.exit(2)
}
const texts = [...(await readTexts(files)), ...everydayTexts()]
const [threshold, suspicion] = [Number(options.threshold), Number(options.suspicion)]
if (options['cross-validate']) {
  const scored = crossScores(texts)
  if (options.scores !== undefined) {
    const lines = scored.map(({ text, score }) =>
      [score.toFixed(2), Number(text.is_attack), text.source, text.words].join('\t'),
    )
    writeFileSync(options.scores, `${lines.join('\n')}\n`)
  }
  const harmless = scored.filter(
    ({ text }) => !text.is_attack && !NOT_FOR_THRESHOLDS.test(text.source),
  )
  const attacks = scored.filter(({ text }) => text.is_attack)
  for (const limit of [threshold, suspicion]) {
    const found = attacks.filter(({ score }) => score > limit).length
    const refused = harmless.filter(({ score }) => score > limit).length
    console.log(
      `${texts.length} texts; families left out: above ${limit} are ${found} of ${attacks.length} attacks and ${refused} of ${harmless.length} harmless texts`,
    )
  }
  for (const source of new Set(attacks.map(({ text }) => text.source))) {
    const scores = attacks.filter(({ text }) => text.source === source).map(({ score }) => score)
    const share = (limit: number): string =>
      ((100 * scores.filter((score) => score > limit).length) / scores.length).toFixed(1)
    console.log(
      `  ${source.padEnd(28)} ${String(scores.length).padStart(5)} texts, left out: ${share(threshold)} % and ${share(suspicion)} %`,
    )
  }
} else {
  const from = options.from === undefined ? null : readModel(readFileSync(options.from))
  const bytes = writeModel(quantize(train(texts, from), threshold, suspicion))
  writeFileSync(options.out, bytes)
  console.log(`wrote ${bytes.length} bytes`)
}
