import { type Passage, passagesIn } from './conversation/passages.ts'
import { readTemplate, type Template, withoutTokens } from './conversation/templates.ts'
import type { Speaker } from '../catalogue/model.ts'
import type { Source } from './format/source.ts'
import type { LearnedModel } from './model/learned-model.ts'
import { modelFinds } from './model-finds.ts'
import {
  type Candidate,
  LEARNED_NAME,
  type Place,
  type PlacedCandidate,
} from './placed-candidate.ts'
import type { SearchBudget } from './text/search-budget.ts'

const DELIMITER_NAME = 'chat_delimiter'
const TEMPLATE_NAMES: ReadonlySet<string> = new Set([DELIMITER_NAME, 'role_heading'])
/** Shown of a forged turn. */
const FORGED_BYTES = 40

/** A token that ends a turn changes nothing at the end of a text. */
const END_TOKEN =
  /^(?:<|\\u003c)\|?(?:im_end|eot_id|eom_id|end_of_turn|end|return)\|?(?:>|\\u003e)(?:\s|\\[nrt])*$/i
const END_BYTES = 200

const isEndToken = ({ bytes }: Source, { candidate, place }: PlacedCandidate): boolean =>
  candidate.name === DELIMITER_NAME &&
  candidate.via.length === 0 &&
  place.end - candidate.start <= END_BYTES &&
  END_TOKEN.test(bytes.toString('latin1', candidate.start, place.end))

/** What is known of a text once something was found in it. */
type Known = {
  readonly template: Template | null
  readonly passages: readonly Passage[]
  is_rest_suspected?: boolean
  is_asked?: boolean
  are_passages_suspected?: boolean
}

/** The learned model for a speaker, and whether the settings ask it about this source. */
interface Learned {
  readonly model: (speaker: Speaker) => LearnedModel
  readonly asks: boolean
}

/** Several speakers in one text: the turns of a chat template, and what was put into the words of an operator. */
export class TextSpeakers {
  readonly #source: Source
  readonly #learned: Learned
  readonly #budget: SearchBudget
  readonly #known = new Map<number, Known>()

  constructor(source: Source, learned: Learned, budget: SearchBudget) {
    this.#source = source
    this.#learned = learned
    this.#budget = budget
  }

  /** A match with the speaker of its part of the text; null where it is a token of a template. */
  inText(placed: PlacedCandidate): PlacedCandidate | null {
    if (isEndToken(this.#source, placed)) return null
    const { candidate, place } = placed
    // An operator's text may be a template as a whole.
    if (
      place.speaker === 'operator' &&
      candidate.name === DELIMITER_NAME &&
      candidate.start === place.start
    )
      return null
    if (place.is_template) return this.#inTemplate(placed)
    return place.speaker === 'operator' ? this.#inOperators(placed) : placed
  }

  #inTemplate(placed: PlacedCandidate): PlacedCandidate | null {
    const { candidate } = placed
    const known = this.#read(placed.place)
    const { template } = known
    if (template === null) return placed
    const place = { ...placed.place, has_turns: true }
    const { operator_end, forged_at } = template
    // Where the API is not known, nobody speaks as its operator.
    if (operator_end > 0 && !place.is_known) return { candidate, place }
    const isToken = TEMPLATE_NAMES.has(candidate.name) && candidate.via.length === 0
    if (isToken && forged_at >= 0) {
      const start = place.start + forged_at
      return { candidate: { ...candidate, start, end: start + FORGED_BYTES }, place }
    }
    const rest = { start: operator_end, end: place.end - place.start }
    if (isToken) return this.#atToken({ candidate, place }, rest, known)
    const isLearned = candidate.category === 'learned'
    if (isLearned) {
      if (this.#isRestSuspected(place, rest, known)) return { candidate, place }
      if (operator_end === 0) return null
    }
    const isOperators = isLearned || candidate.end <= place.start + operator_end
    return isOperators
      ? this.#inOperators({ candidate, place: { ...place, speaker: 'operator' } })
      : { candidate, place }
  }

  /** Once a template, what the model finds in its words: with its tokens among them it may find less. */
  #atToken(placed: PlacedCandidate, rest: Passage, known: Known): PlacedCandidate | null {
    if (!this.#learned.asks || known.is_asked === true) return null
    known.is_asked = true
    const { place } = placed
    if (this.#isRestSuspected(place, rest, known))
      return { candidate: learnedIn(rest, placed), place }
    const operators = { start: 0, end: rest.start }
    if (rest.start === 0 || !this.#isSuspected(place, 'operator', [operators])) return null
    const candidate = learnedIn(operators, placed)
    return this.#inOperators({ candidate, place: { ...place, speaker: 'operator' } })
  }

  #isRestSuspected(place: Place, rest: Passage, known: Known): boolean {
    known.is_rest_suspected ??= this.#isSuspected(place, 'user', [rest])
    return known.is_rest_suspected
  }

  #inOperators(placed: PlacedCandidate): PlacedCandidate {
    const { candidate, place } = placed
    const known = this.#read(place)
    const { passages } = known
    if (passages.length === 0) return placed
    const isDocument =
      candidate.category === 'learned'
        ? (known.are_passages_suspected ??= this.#isSuspected(place, 'user', passages))
        : isWithin(passages, candidate, place)
    return isDocument
      ? { candidate, place: { ...place, speaker: 'document', is_passage: true } }
      : placed
  }

  #read(place: Place): Known {
    let known = this.#known.get(place.start)
    if (known === undefined) {
      const text = this.#text(place, 0, place.end - place.start)
      const template = place.is_template ? readTemplate(text) : null
      const end = place.is_template ? (template?.operator_end ?? 0) : text.length
      known = { template, passages: passagesIn(text.slice(0, end)) }
      this.#known.set(place.start, known)
    }
    return known
  }

  /** Whether the learned model finds something in these parts, without the tokens of the template. */
  #isSuspected(place: Place, speaker: Speaker, parts: readonly Passage[]): boolean {
    return modelFinds(
      Buffer.from(
        parts.map(({ start, end }) => withoutTokens(this.#text(place, start, end))).join('\n'),
        'latin1',
      ),
      this.#learned.model(speaker),
      this.#budget,
    )
  }

  #text(place: Place, start: number, end: number): string {
    return this.#source.bytes.toString('latin1', place.start + start, place.start + end)
  }
}

const learnedIn = ({ start, end }: Passage, { candidate, place }: PlacedCandidate): Candidate => ({
  ...candidate,
  name: LEARNED_NAME,
  category: 'learned',
  start: place.start + start,
  end: place.start + end,
})

const isWithin = (passages: readonly Passage[], { start, end }: Candidate, place: Place): boolean =>
  passages.some((passage) => start < place.start + passage.end && end > place.start + passage.start)
