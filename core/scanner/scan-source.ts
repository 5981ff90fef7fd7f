import type RE2 from 're2'
import type { CompiledInjectionSettings } from './compile-settings.ts'
import {
  addFinding,
  dropFinding,
  type Finding,
  holdsOnlyWorst,
  SEVERITY_RANK,
  wouldKeep,
} from './finding.ts'
import { locateJson } from './format/locate-json.ts'
import { scanJsonStrings } from './format/json-pieces.ts'
import { decodePercent, eachPair } from './format/pairs.ts'
import { isBinary } from './format/readable-runs.ts'
import type { Source } from './format/source.ts'
import { type LiteralFilter, mayMatch } from './custom/literal-filter.ts'
import { correctTypos } from './decode/derive-typos.ts'
import { everydaySense, type Surroundings } from './everyday-sense.ts'
import { isClaimOfState } from './is-claim-of-state.ts'
import { UserInstructions } from './user-instructions.ts'
import { isOfferToReader } from './is-offer-to-reader.ts'
import { isQuotedMention } from './is-quoted-mention.ts'
import { isRuledOut } from './is-ruled-out.ts'
import { withoutMentions } from './without-mentions.ts'
import { LayeredScanner } from './layered-scanner.ts'
import { maskSecrets, maskWithin } from '../masking/mask-secrets.ts'
import { CATEGORIES, type Category } from './categories.ts'
import type { Sensitivity, Speaker } from '../catalogue/model.ts'
import { builtIn } from './patterns/built-in.ts'
import { isFindingIn, isHidden } from './patterns/found-in.ts'
import { textHash, isTrusted } from './trusted-text.ts'
import {
  type Candidate,
  LEARNED_NAME,
  type Place,
  type PlacedCandidate,
} from './placed-candidate.ts'
import { TextSpeakers } from './text-speakers.ts'
import { OF_NO_API, type Spoken, stricter } from './conversation/speaker-of.ts'
import { HITS_PER_PIECE } from './text/place-search.ts'
import { withSingleBlanks } from './text/single-blanks.ts'
import type { SearchBudget } from './text/search-budget.ts'
import { LEARNED_PATTERN } from './text/text-scanner.ts'
import { type LearnedModel, learnedModel } from './model/learned-model.ts'
import { modelFinds } from './model-finds.ts'
import { SplitValues } from './format/split-values.ts'
import { plainJsonText } from './format/plain-json-text.ts'
import { plainPercentText } from './format/plain-percent-text.ts'
import type { PlainText } from './format/plain-text.ts'

/**
 * Number of hits after which a source with many strings is evaluated before reading continues: far more than are reported,
 * because most may be quotations. If too few of them are findings, reading continues up to this many times as many hits.
 */
const HITS_FIRST = 2_048
const HITS_MORE = 16

/** Maximum number of characters of `matched_text`. */
const EXCERPT_CHARACTERS = 200
const LARGEST_LOCATION = 400

const CHECKED: Readonly<Record<Sensitivity, readonly string[]>> = {
  low: ['critical'],
  medium: ['critical', 'high'],
  high: ['critical', 'high', 'medium'],
}

/** The name of findings of letters that are hidden from filters. */
export const HIDDEN_LETTERS_NAME = 'hidden_letters'

let scanner: LayeredScanner | null = null

const masks = new WeakMap<CompiledInjectionSettings, Uint8Array>()

/** The patterns that the settings check. */
const activePatterns = (settings: CompiledInjectionSettings): Uint8Array => {
  let mask = masks.get(settings)
  if (mask === undefined) {
    const checked = CHECKED[settings.sensitivity]
    mask = Uint8Array.from(builtIn().patterns.patterns, ({ name, category }) =>
      checked.includes(CATEGORIES[category].severity) && !settings.disabled.has(name) ? 1 : 0,
    )
    masks.set(settings, mask)
  }
  return mask
}

let suspicious: LearnedModel | null = null

/** Sensitivity `high` refuses what the model only suspects. */
const modelAt = (sensitivity: Sensitivity): LearnedModel => {
  const model = learnedModel()
  if (sensitivity !== 'high') return model
  suspicious ??= { ...model, threshold: model.suspicion }
  return suspicious
}

/** Injections come in by what tools and documents say, and nobody there speaks to a model for fun: a suspicion is enough. */
const modelFor = (speaker: Speaker, { sensitivity }: CompiledInjectionSettings): LearnedModel =>
  modelAt(speaker === 'tool_result' || speaker === 'document' ? 'high' : sensitivity)

const asksModel = (source: Source, settings: CompiledInjectionSettings): boolean =>
  settings.sensitivity !== 'low' && !settings.disabled.has(LEARNED_NAME) && source.is_noise !== true

const scanOnce = (
  source: Source,
  settings: CompiledInjectionSettings,
  candidates: Candidate[],
  budget: SearchBudget,
  asText: boolean,
  hit_limit: number,
): boolean => {
  const { patterns, trie } = builtIn()
  scanner ??= new LayeredScanner(patterns, trie)
  const { bytes } = source
  scanner.model = asksModel(source, settings) ? modelAt('high') : null
  scanner.budget = budget
  scanner.begin(bytes, activePatterns(settings))
  const { text } = scanner
  text.hit_limit = hit_limit
  let isWhole = true
  const split = new SplitValues()
  if (!asText && source.format === 'json') isWhole = scanJsonStrings(text, bytes, split)
  else if (!asText && source.format === 'pairs') {
    eachPair(bytes, ({ name_start, name_end, value_end }) => {
      if (text.isFull) return
      text.piece(name_start, name_end, false)
      if (value_end > name_end) text.piece(name_end + 1, value_end, false)
    })
  } else text.piece(0, bytes.length, false)
  scanner.finish()
  for (const one of split.texts()) scanner.lookAt({ via: 'split_values', ...one })
  addFound(scanner, candidates, source)
  return isWhole
}

/** Hits of the patterns, the model and the text itself. */
const addFound = (scanner: LayeredScanner, candidates: Candidate[], source: Source): void => {
  const { patterns } = builtIn()
  const { text } = scanner
  const plainHits = new Set(
    scanner.hits.flatMap(({ via, pattern, start, end }) =>
      via.length === 0 ? [`${pattern} ${start}`, `${pattern} -${end}`] : [],
    ),
  )
  for (const hit of scanner.hits) {
    // The same match needs no other reading of its letters.
    if (
      hit.via.length > 0 &&
      (plainHits.has(`${hit.pattern} ${hit.start}`) || plainHits.has(`${hit.pattern} -${hit.end}`))
    )
      continue
    if (hit.pattern === LEARNED_PATTERN) {
      candidates.push({
        ...hit,
        name: LEARNED_NAME,
        category: 'learned',
        expression: null,
        model_sign: null,
      })
      continue
    }
    const pattern = patterns.patterns[hit.pattern]
    if (pattern === undefined) continue
    candidates.push({
      name: pattern.name,
      category: pattern.category,
      start: hit.start,
      end: hit.end,
      via: hit.via,
      expression: null,
      model_sign: patterns.modelSignOf(hit.pattern),
    })
  }
  if (scanner.encoded_run !== null && source.holds_tokens !== true) {
    candidates.push({
      name: 'base64_payload',
      category: 'encoded_payload',
      ...scanner.encoded_run,
      via: [],
      expression: null,
      model_sign: null,
    })
  }
  if (text.hidden.at >= 0 && source.is_noise !== true) {
    candidates.push({
      name: HIDDEN_LETTERS_NAME,
      category: 'jailbreak',
      start: text.hidden.at,
      end: text.hidden.end,
      via: [],
      expression: null,
      model_sign: null,
    })
  }
  if (text.invisible_at >= 0) {
    candidates.push({
      name: 'invisible_characters',
      category: 'invisible_characters',
      start: text.invisible_at,
      end: text.invisible_at + 3,
      via: [],
      expression: null,
      model_sign: null,
    })
  }
}

/** Maximum number of matches of a custom pattern in a source; the first may be in a whitelisted text. */
const CUSTOM_HITS = 256

function* matchesIn(
  text: Buffer,
  expression: RE2,
  most: number,
): Generator<{ readonly start: number; readonly end: number }> {
  let from = 0
  for (let count = 0; count < most; count++) {
    const match = expression.exec(text.subarray(from))
    if (match === null) return
    const start = from + match.index
    const end = start + Math.max(1, match[0].length)
    yield { start, end }
    from = end
  }
}

const addCustom = (
  source: Source,
  settings: CompiledInjectionSettings,
  candidates: Candidate[],
  hasPlainEscapes: boolean,
  budget: SearchBudget,
): void => {
  const { custom } = settings
  if (custom === null) return
  const { search, filter } = custom
  const most = settings.whitelist === null ? 1 : CUSTOM_HITS
  for (const { text, sourceOffset } of readingsOf(source, filter, hasPlainEscapes)) {
    if (filter !== null && !mayMatch(filter, text)) continue
    if (search === null) {
      budget.handOver()
      return
    }
    for (const index of search.all.match(text))
      for (const match of matchesIn(text, search.one(index), most))
        candidates.push({
          name: 'custom_pattern',
          category: 'custom',
          start: sourceOffset(match.start),
          end: sourceOffset(match.end),
          via: [],
          expression: custom.expressions[index] ?? null,
          model_sign: null,
        })
  }
}

const asSent = (text: Buffer): PlainText => ({ text, sourceOffset: (offset) => offset })

/** What operators write their expressions for: strings of JSON without escapes; all else as it is sent and percent-decoded. */
function* readingsOf(
  source: Source,
  filter: LiteralFilter | null,
  hasPlainEscapes: boolean,
): Generator<PlainText> {
  const { bytes } = source
  if (source.format !== 'json') {
    yield asSent(bytes)
    const decoded = plainPercentText(bytes)
    if (decoded !== null) yield decoded
    return
  }
  // The filter reads past the escapes that most texts have.
  if (hasPlainEscapes && filter !== null && !mayMatch(filter, bytes)) return
  yield plainJsonText(bytes)
}

/** Where no shape of a request says more: what an API answers is the result of a tool. */
const unnamed = ({ location }: Source): Spoken => ({
  ...OF_NO_API,
  speaker: location.startsWith('response.') ? 'tool_result' : 'user',
})

/** The positions of ascending offsets, in one walk. */
const placesInPairs = (source: Source, offsets: readonly number[]): Place[] => {
  const places: Place[] = []
  eachPair(source.bytes, ({ name_start, name_end, value_end }) => {
    const offset = offsets[places.length]
    if (offset === undefined || offset > value_end) return
    const name = decodePercent(
      source.bytes.toString('utf8', name_start, Math.min(name_end, name_start + 96)),
    ).trimStart()
    while (places.length < offsets.length && (offsets[places.length] as number) <= value_end) {
      const isName = (offsets[places.length] as number) < name_end
      places.push({
        location: `${source.location}.${name.slice(0, 64)}`,
        start: isName ? name_start : name_end + 1,
        end: isName ? name_end : value_end,
        ...unnamed(source),
      })
    }
  })
  return places
}

const placesOf = (source: Source, asText: boolean, offsets: readonly number[]): Place[] => {
  if (source.format === 'pairs') return placesInPairs(source, offsets)
  if (source.format === 'text' || asText) {
    const whole = {
      location: source.location,
      start: 0,
      end: source.bytes.length,
      ...unnamed(source),
    }
    return offsets.map(() => whole)
  }
  return locateJson(source.bytes, offsets, source.shapes ?? []).map((place) => ({
    ...place,
    ...(source.shapes === undefined ? unnamed(source) : {}),
    is_template: place.is_template || (source.shapes !== undefined && TEMPLATE.test(place.path)),
    location: `${source.location}${place.path}`.slice(0, LARGEST_LOCATION),
  }))
}

/** Members that carry chat templates to any API. */
const TEMPLATE = /^\.(?:prompt|inputs)$/

const ESCAPED_LETTERS: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
}

const asWritten = (source: Source, start: number, end: number): string => {
  const raw = source.bytes.toString('utf8', start, end)
  if (source.format === 'pairs') return decodePercent(raw)
  if (source.format !== 'json' || !raw.includes('\\')) return raw
  return raw.replace(/\\(?:u[\da-fA-F]{4}|["\\/bfnrt])/g, (escape) => {
    const kind = escape.charAt(1)
    if (kind === 'u') return String.fromCharCode(Number.parseInt(escape.slice(2), 16))
    return ESCAPED_LETTERS[kind] ?? kind
  })
}

/** The text of a place as it reads. */
const textOf = (source: Source, { start, end }: Place): string => {
  if (source.format !== 'json') return asWritten(source, start, end)
  try {
    // Millions of escapes at once.
    return JSON.parse(`"${source.bytes.toString('utf8', start, end)}"`) as string
  } catch {
    return asWritten(source, start, end)
  }
}

/**
 * How much text around an excerpt is considered for masking: the first line of a private key is further away than the name of a
 * password.
 */
const BEFORE_BYTES = 1_024
const AFTER_BYTES = 256

const excerpt = (source: Source, start: number, end: number): string => {
  const from = Math.max(0, start - BEFORE_BYTES)
  const to = Math.min(end, start + EXCERPT_CHARACTERS * 4)
  // The name of a header tells the kind of its value.
  const header = /^headers\.(.+)$/.exec(source.location)
  const name = header === null ? '' : `${header[1]}: `
  const text = maskWithin(
    name + asWritten(source, from, start),
    asWritten(source, start, to),
    asWritten(source, to, Math.min(source.bytes.length, to + AFTER_BYTES)),
  )
  return Array.from(text)
    .slice(0, EXCERPT_CHARACTERS)
    .join('')
    .replace(/\p{Surrogate}/gu, '\ufffd')
}

/** Whether a whitelist pattern matches a text of the source as it reads; each text is searched once. */
const whitelisting = (
  settings: CompiledInjectionSettings,
  source: Source,
): ((place: Place) => boolean) => {
  const search = settings.whitelist?.search
  if (search === undefined || search === null) return () => false
  const known = new Map<number, boolean>()
  return (place) => {
    const isListed = known.get(place.start) ?? search.all.test(Buffer.from(textOf(source, place)))
    known.set(place.start, isListed)
    return isListed
  }
}

/** The hash of the text of a place; each text is hashed once. Null where it has several speakers. */
const textHashes = (source: Source): ((place: Place) => string | null) => {
  const known = new Map<number, string>()
  return (place) => {
    if (place.has_turns === true) return null
    const hash = known.get(place.start) ?? textHash(textOf(source, place))
    known.set(place.start, hash)
    return hash
  }
}

/**
 * Finds what the settings check in one text; all texts of a request share a budget. Findings of one pattern at one
 * place are one.
 * @param findings of all texts, to which those of this one are added
 * @returns whether there is one in this text
 */
export const scanSource = (
  source: Source,
  settings: CompiledInjectionSettings,
  findings: Finding[],
  budget: SearchBudget,
): boolean => {
  const own: Finding[] = []
  const { looks } = budget
  for (let hit_limit = HITS_FIRST; ; hit_limit *= HITS_MORE) {
    own.length = 0
    budget.looks = looks
    const isRead = scanUntil(source, settings, own, budget, hit_limit)
    if (isRead || holdsOnlyWorst(own)) break
  }
  for (const finding of own) addFinding(findings, finding)
  return own.length > 0
}

/** @returns whether the source was read to its end */
const scanUntil = (
  source: Source,
  settings: CompiledInjectionSettings,
  findings: Finding[],
  budget: SearchBudget,
  hit_limit: number,
): boolean => {
  const candidates: Candidate[] = []
  const limit = budget.hitsLeft(hit_limit)
  const isWhole = scanOnce(source, settings, candidates, budget, false, limit)
  const isRead = scanner?.text.isFull === false
  if (!isWhole) {
    const asText = { ...source, is_noise: source.is_noise === true || isBinary(source.bytes) }
    scanOnce(asText, settings, candidates, budget, true, limit)
  }
  budget.countHits(scanner?.hits.length ?? 0)
  const hasPlainEscapes =
    source.format !== 'json' || (isWhole && isRead && scanner?.text.has_odd_escapes === false)
  addCustom(source, settings, candidates, hasPlainEscapes, budget)
  if (budget.isUndecided) return true
  nameFindings(source, settings, candidates, findings, budget, !isWhole)
  return isRead
}

/** Candidates of a source that are looked at once more; everyday wording behind them stays suspicious. */
const SECOND_LOOKS = 16
const LOOK_AROUND_BYTES = 320
/** How far around a candidate a sign of a model is looked for, not counting blanks that repeat. */
const SIGN_BYTES = 120
const SIGN_REACH_BYTES = 1_024

/** A part as it reads, with one blank for each run of them. */
const readPart = (source: Source, start: number, end: number): Buffer =>
  Buffer.from(withSingleBlanks(decodePercent(asWritten(source, start, end))))

/** Reads further where blanks or escapes take the room of what is looked for. */
const readEnough = (bytes: number, read: (reach: number) => Buffer): Buffer => {
  const part = read(2 * SIGN_BYTES)
  return part.length < bytes ? read(SIGN_REACH_BYTES) : part
}

/** A candidate with what stands before and behind it. It may end within a character or an escape. */
const surroundings = (source: Source, place: Place, { start, end }: Candidate): Surroundings => {
  const match = readPart(source, start, end)
  const before = readEnough(SIGN_BYTES, (reach) =>
    readPart(source, Math.max(place.start, start - reach), start),
  )
  const rest = readEnough(match.length + SIGN_BYTES, (reach) =>
    readPart(source, start, Math.min(place.end, end + reach)),
  ).toString('utf8', 0, match.length + SIGN_BYTES)
  const ends_at = match.toString().replace(/\ufffd$/, '').length
  return {
    before: before.toString('utf8', Math.max(0, before.length - SIGN_BYTES)),
    match: rest.slice(0, ends_at),
    after: rest.slice(ends_at),
  }
}

/** People misspell words and write short lines too; nothing else that is decoded happens by itself. */
const isDisguised = (via: readonly string[]): boolean =>
  via.some((one) => one !== 'typos' && one !== 'joined_lines')

/** Escapes that the scanner reads and `everydaySense` does not: as good a sign as a disguise. */
const ESCAPED = /&#?\w+;|\\[ux\d]/

const withoutTypos = ({ before, match, after }: Surroundings): Surroundings => ({
  before: correctTypos(before.toLowerCase()),
  match: correctTypos(match.toLowerCase()),
  after: correctTypos(after.toLowerCase()),
})

type Judged = {
  readonly candidate: Candidate
  /** The text shows that people are meant, so the learned model is not asked about these words. */
  readonly is_of_people: boolean
}

/** What a candidate is reported as: everyday wording is only suspicious, until the learned model supports it. */
const judged = (
  source: Source,
  place: Place,
  candidate: Candidate,
  budget: SearchBudget | null,
): Judged => {
  const { model_sign, start, end, via } = candidate
  const unchanged = { candidate, is_of_people: false }
  // A disguise is a second signal: nobody writes to a colleague in Base64.
  if (model_sign === null || isDisguised(via)) return unchanged
  if (ESCAPED.test(asWritten(source, start, end))) return unchanged
  const written = surroundings(source, place, candidate)
  const sense = everydaySense(via.length > 0 ? withoutTypos(written) : written, model_sign)
  if (sense === 'no') return unchanged
  const suspicious: Candidate = { ...candidate, category: 'suspicious_wording' }
  if (sense === 'of_people') return { candidate: suspicious, is_of_people: true }
  const from = Math.max(place.start, start - LOOK_AROUND_BYTES)
  const to = Math.min(place.end, end + LOOK_AROUND_BYTES)
  const isSupported =
    budget !== null && modelFinds(source.bytes.subarray(from, to), modelAt('high'), budget)
  return {
    candidate: isSupported ? { ...candidate, name: LEARNED_NAME, category: 'learned' } : suspicious,
    is_of_people: false,
  }
}

/** Whether the learned model finds nothing in a text besides its mentions. All are known: one look at a text is enough. */
const isRestClean = (
  rest: {
    readonly source: Source
    readonly place: Place
    readonly mentioned: readonly Candidate[]
    readonly model: LearnedModel
  },
  known: Map<number, boolean>,
  budget: SearchBudget,
): boolean => {
  const { source, place, mentioned, model } = rest
  const isClean =
    known.get(place.start) ??
    !modelFinds(withoutMentions(source.bytes, place, mentioned), model, budget)
  known.set(place.start, isClean)
  return isClean
}

/** Patterns first. The learned model comes last: it cannot distinguish a mention of an attack from the attack. */
const inOrder = <PlacedCandidate extends { readonly candidate: Candidate }>(
  placed: readonly PlacedCandidate[],
): readonly PlacedCandidate[] => [
  ...placed.filter(({ candidate }) => candidate.category !== 'learned'),
  ...placed.filter(({ candidate }) => candidate.category === 'learned'),
]

/** What the settings check, with the text that it is in. */
const placedCandidates = (
  source: Source,
  settings: CompiledInjectionSettings,
  candidates: readonly Candidate[],
  asText: boolean,
  budget: SearchBudget,
): readonly PlacedCandidate[] => {
  const checked = candidates
    .filter(
      ({ name, category }) =>
        category === 'custom' || (isChecked(settings, category) && !settings.disabled.has(name)),
    )
    .sort((a, b) => a.start - b.start)
  if (checked.length === 0) return []
  // A match may reach into the words of another speaker.
  const offsets = checked.flatMap(({ start, end }) => [start, Math.max(start, end - 1)])
  const order = Array.from(offsets.keys()).sort((a, b) => offsetAt(a) - offsetAt(b))
  function offsetAt(index: number): number {
    return offsets[index] as number
  }
  const found = placesOf(source, asText, order.map(offsetAt))
  const places = new Map(order.map((index, position) => [index, found[position]]))
  const model = (speaker: Speaker) => modelFor(speaker, settings)
  const speakers = new TextSpeakers(source, { model, asks: asksModel(source, settings) }, budget)
  const placed = checked.flatMap((candidate, index) => {
    const place = places.get(2 * index)
    if (place === undefined) return []
    const last = places.get(2 * index + 1) ?? place
    const speaker = stricter(place.speaker, last.speaker)
    const has_turns = last.start !== place.start
    return speakers.inText({ candidate, place: { ...place, speaker, has_turns } }) ?? []
  })
  return placed.filter(
    ({ candidate: { score }, place: { speaker } }) =>
      score === undefined || score > modelFor(speaker, settings).threshold,
  )
}

const findingOf = (
  source: Source,
  { place, candidate }: PlacedCandidate,
  known: Pick<Finding, 'whitelisted' | 'counts' | 'text_hash'>,
): Finding => ({
  pattern_name: candidate.name,
  category: candidate.category,
  severity: CATEGORIES[candidate.category].severity,
  matched_text: excerpt(source, candidate.start, candidate.end),
  location: maskSecrets(place.location),
  start: candidate.start,
  end: candidate.end,
  via: candidate.via,
  pattern: candidate.expression,
  speaker: place.speaker,
  ...known,
})

/** What an operator trusts or whitelists is only recorded. */
const lifting = (
  settings: CompiledInjectionSettings,
  source: Source,
): ((place: Place, found: Candidate) => Pick<Finding, 'whitelisted' | 'text_hash'>) => {
  const isListed = whitelisting(settings, source)
  const hashOf = textHashes(source)
  return (place, { name, via }) => {
    const text_hash = hashOf(place)
    const isLifted =
      text_hash !== null &&
      isTrusted(settings.trusted, text_hash, place.speaker) &&
      !isHidden(name, via)
    return { whitelisted: isLifted || isListed(place), text_hash }
  }
}

const nameFindings = (
  source: Source,
  settings: CompiledInjectionSettings,
  candidates: readonly Candidate[],
  findings: Finding[],
  budget: SearchBudget,
  asText: boolean,
): void => {
  const placed = placedCandidates(source, settings, candidates, asText, budget)
  if (placed.length === 0) return
  if (settings.whitelist?.search === null) {
    budget.handOver()
    return
  }
  // Mentions of each pattern in each place, and HITS_PER_PIECE of what was found.
  const seen = new Map<string, number>()
  // What a later hit of the same pattern may still exceed.
  const weaker = new Map<string, Finding>()
  const mentions = new Map<number, Candidate[]>()
  const mention = (place: Place, candidate: Candidate): void => {
    const known = mentions.get(place.start) ?? []
    known.push(candidate)
    mentions.set(place.start, known)
  }
  const cleanRests = new Map<number, boolean>()
  const liftedBy = lifting(settings, source)
  const before_looks = budget.looks
  const instructions = new UserInstructions(source.bytes, budget)
  for (const { candidate: found, place } of inOrder(placed)) {
    const mentioned = mentions.get(place.start)
    const counts = isFindingIn(place.speaker, found.name, found.category, found.via)
    if (found.category === 'learned' && mentioned !== undefined) {
      // What would only be recorded is not worth reading the text again.
      if (!counts) continue
      const rest = { source, place, mentioned, model: modelFor(place.speaker, settings) }
      if (isRestClean(rest, cleanRests, budget)) continue
    }
    const key = `${found.name} ${found.expression ?? ''} ${place.start}`
    const count = (seen.get(key) ?? 0) + 1
    // A text that mentions an attack repeatedly may contain the attack after the mentions.
    if (count > HITS_PER_PIECE || (count < HITS_PER_PIECE && isMention(source, place, found))) {
      seen.set(key, count)
      mention(place, found)
      continue
    }
    const isUsual = counts && count < HITS_PER_PIECE && instructions.mayContain(place, found)
    if (isUsual) {
      mention(place, found)
      seen.set(key, count)
      if (!instructions.isFirst(key)) continue
    }
    let candidate = found
    if (counts && !isUsual && found.model_sign !== null && budget.look()) {
      if (budget.isUndecided) return
      const isEarly = budget.looks - before_looks <= SECOND_LOOKS
      const verdict = judged(source, place, found, isEarly ? budget : null)
      candidate = verdict.candidate
      if (verdict.is_of_people) mention(place, found)
      if (!isChecked(settings, candidate.category) || settings.disabled.has(candidate.name))
        continue
    }
    const { severity } = CATEGORIES[candidate.category]
    const before = weaker.get(key)
    if (before !== undefined && SEVERITY_RANK[before.severity] <= SEVERITY_RANK[severity]) continue
    if (candidate === found && !isUsual) seen.set(key, HITS_PER_PIECE)
    if (before !== undefined) dropFinding(findings, before)
    const known = { ...liftedBy(place, found), counts: counts && !isUsual }
    if (!wouldKeep(findings, { severity, ...known })) continue
    const finding = findingOf(source, { place, candidate }, known)
    if (candidate !== found) weaker.set(key, finding)
    addFinding(findings, finding)
    if (holdsOnlyWorst(findings)) return
  }
}

const isChecked = (settings: CompiledInjectionSettings, category: Category): boolean =>
  CHECKED[settings.sensitivity].includes(CATEGORIES[category].severity)

const isMention = (source: Source, place: Place, candidate: Candidate): boolean =>
  candidate.category !== 'custom' &&
  !isDisguised(candidate.via) &&
  (isQuotedMention(source.bytes, place, candidate.start, candidate.end) ||
    isRuledOut(source.bytes, place.start, candidate.start, candidate.category) ||
    isClaimOfState(source.bytes, place, candidate) ||
    isOfferToReader(source.bytes, candidate, place.end))
