import { readFileSync } from 'node:fs'
import { fromRoot } from '../../system/root.ts'

/**
 * A linear model over hashed words, pairs of words and runs of three, used in addition to the patterns. One byte per weight;
 * `bench/train-model.ts` trains it with labelled texts.
 */
export type LearnedModel = {
  readonly weights: Int8Array
  /** The scale of the weights. */
  readonly scale: number
  readonly bias: number
  /** A section with a higher score is a finding. */
  readonly threshold: number
  /** Lower: enough for sensitivity `high`, and to raise what a pattern found in everyday wording. */
  readonly suspicion: number
}

/** Words whose weights are added up; half of them overlap with the previous section. */
export const STRETCH_WORDS = 96
export const HALF_STRETCH_WORDS = STRETCH_WORDS / 2
/** Shorter texts are neither learned nor judged. */
export const LEAST_WORDS = 5
export const MODEL_BITS = 20

const MAGIC = 'AGWMODL2'
const HEADER_BYTES = 24

const mix = (a: number, b: number): number => {
  let hash = Math.imul(a, 0x9e3779b1) ^ b
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b)
  return hash ^ (hash >>> 13)
}

const MASK = (1 << MODEL_BITS) - 1

/** The index of a word's weight. */
export const wordFeature = (hash: number): number => mix(hash, 1) & MASK
/** The index of the weight of a word that follows another. */
export const pairFeature = (hash: number, before: number): number => mix(hash, before) & MASK
/** The index of the weight of a word and the one before the last. */
export const skipFeature = (hash: number, before: number): number =>
  mix(hash, Math.imul(before, 3)) & MASK
/** The index of the weight of three words in a row. */
export const runFeature = (hash: number, before: number, first: number): number =>
  mix(mix(hash, before), first) & MASK

/** What a word adds to the features of its section, and how many are missing from the first two words of a text. */
export const WORD_FEATURES = 4
export const MISSING_FEATURES = 5

export const readModel = (bytes: Buffer): LearnedModel => {
  if (
    bytes.toString('latin1', 0, 8) !== MAGIC ||
    bytes.length !== HEADER_BYTES + (1 << MODEL_BITS)
  ) {
    throw new Error('this version cannot read the learned model file')
  }
  return {
    scale: bytes.readFloatLE(8),
    bias: bytes.readFloatLE(12),
    threshold: bytes.readFloatLE(16),
    suspicion: bytes.readFloatLE(20),
    weights: new Int8Array(bytes.buffer, bytes.byteOffset + HEADER_BYTES, 1 << MODEL_BITS),
  }
}

export const writeModel = (model: LearnedModel): Buffer => {
  const header = Buffer.alloc(HEADER_BYTES)
  header.write(MAGIC, 0, 'latin1')
  header.writeFloatLE(model.scale, 8)
  header.writeFloatLE(model.bias, 12)
  header.writeFloatLE(model.threshold, 16)
  header.writeFloatLE(model.suspicion, 20)
  return Buffer.concat([
    header,
    Buffer.from(model.weights.buffer, model.weights.byteOffset, model.weights.byteLength),
  ])
}

/** A model that comes with the product, read once per process. */
const shipped = (path: string): (() => LearnedModel) => {
  let model: LearnedModel | null = null
  return () => {
    model ??= readModel(readFileSync(path))
    return model
  }
}

export const learnedModel = shipped(fromRoot('core/scanner/model/weights.bin'))
/** Distinguishes attacks from the lines of prompts, in texts that speak to a model. */
export const promptModel = shipped(fromRoot('core/scanner/model/prompt-weights.bin'))
