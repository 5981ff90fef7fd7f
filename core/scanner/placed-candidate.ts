import type RE2 from 're2'
import type { Category } from './categories.ts'
import type { Spoken } from './conversation/speaker-of.ts'

/** The name of findings by the learned model. */
export const LEARNED_NAME = 'learned_model'

/** A place where something was found, before it is named. */
export type Candidate = {
  readonly name: string
  readonly category: Category
  readonly start: number
  readonly end: number
  readonly via: readonly string[]
  readonly expression: string | null
  /** Of the learned model. */
  readonly score?: number
  /** Of a pattern that everyday wording matches too. */
  readonly model_sign: RE2 | null
}

/** The text around a position: where it begins and ends, its name, and who speaks in it. */
export type Place = Spoken & {
  readonly location: string
  readonly start: number
  readonly end: number
  /** A match reaches over several texts, or a chat template has made the text of several turns. */
  readonly has_turns?: boolean
  /** A passage in the words of an operator. */
  readonly is_passage?: boolean
}

export type PlacedCandidate = { readonly candidate: Candidate; readonly place: Place }
