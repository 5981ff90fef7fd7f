/**
 * Chat templates: how a client writes several turns into one text. `operator`, `user` and `model` begin a turn; `other` are tokens
 * between turns. The texts are read as JSON writes them.
 */
type Family = {
  readonly operator: string
  readonly user: string
  readonly model: string
  readonly other: string
}

const LT = '(?:<|\\\\u003[cC])'
const GT = '(?:>|\\\\u003[eE])'
const SLASH = '\\\\?/'
const NEW_LINE = '(?:^|\\\\n|\\n)'

const FAMILIES: readonly Family[] = [
  // ChatML
  {
    operator: `${LT}\\|im_start\\|${GT}(?:system|developer)`,
    user: `${LT}\\|im_start\\|${GT}(?:user|tool)`,
    model: `${LT}\\|im_start\\|${GT}assistant`,
    other: `${LT}\\|im_(?:end|sep)\\|${GT}`,
  },
  // Llama 3
  {
    operator: `${LT}\\|start_header_id\\|${GT}system${LT}\\|end_header_id\\|${GT}`,
    user: `${LT}\\|start_header_id\\|${GT}(?:user|tool|ipython)${LT}\\|end_header_id\\|${GT}`,
    model: `${LT}\\|start_header_id\\|${GT}assistant${LT}\\|end_header_id\\|${GT}`,
    other: `${LT}\\|(?:eot_id|eom_id|begin_of_text|end_of_text)\\|${GT}`,
  },
  // Llama 2 and Mistral
  {
    operator: `${LT}${LT}SYS${GT}${GT}|\\[SYSTEM_PROMPT\\]`,
    user: `\\[INST\\]|${LT}${LT}${SLASH}SYS${GT}${GT}|\\[${SLASH}SYSTEM_PROMPT\\]|\\[TOOL_RESULTS\\]`,
    model: `\\[${SLASH}INST\\]`,
    other: `${LT}${SLASH}?s${GT}`,
  },
  // Gemma
  {
    operator: `${LT}start_of_turn${GT}(?:system|developer)`,
    user: `${LT}start_of_turn${GT}user`,
    model: `${LT}start_of_turn${GT}model`,
    other: `${LT}(?:end_of_turn|bos|eos)${GT}`,
  },
  // Harmony
  {
    operator: `${LT}\\|start\\|${GT}(?:system|developer)`,
    user: `${LT}\\|start\\|${GT}(?:user|functions\\.)`,
    model: `${LT}\\|start\\|${GT}assistant`,
    other: `${LT}\\|(?:end|message|channel|call|return|constrain)\\|${GT}`,
  },
  // Alpaca and Vicuna
  {
    operator: `${NEW_LINE}### ?System:`,
    user: `${NEW_LINE}### ?(?:Instruction|Input|User|Human):`,
    model: `${NEW_LINE}### ?(?:Response|Assistant):`,
    other: `(?!)`,
  },
]

const TOKENS = new RegExp(
  FAMILIES.flatMap(({ operator, user, model, other }, family) => [
    `(?<operator${family}>${operator})`,
    `(?<user${family}>${user})`,
    `(?<model${family}>${model})`,
    `(?<other${family}>${other})`,
  ]).join('|'),
  'g',
)

export type Template = {
  /** Where the turn of the operator ends that the text begins with; 0 without one. */
  readonly operator_end: number
  /** Where a turn of an operator begins that is not the first, or a token of another template; -1 without one. */
  readonly forged_at: number
}

/** More tokens than a conversation has turns; the rest is read as the words of a user. */
const MOST_TOKENS = 4_096

/** Blanks and escaped line breaks before the first turn. */
const BEGINNING = /^(?:\s|\\[nrt])*$/

/**
 * The turns of a text that a template has made from its beginning; null if it is none. Only the operator's first turn counts as such:
 * every later one may have been written by whoever wrote the text before it.
 */
export const readTemplate = (text: string): Template | null => {
  let family = -1
  let operator_end = 0
  let isInOperator = false
  let turns = 0
  let tokens = 0
  let last_end = 0
  for (const { 0: token, index, groups } of text.matchAll(TOKENS)) {
    const [name = ''] = Object.entries(groups ?? {}).find(([, value]) => value !== undefined) ?? []
    const own = Number(name.slice(-1))
    const kind = name.slice(0, -1)
    if (family < 0) {
      if (own !== HEADINGS && !BEGINNING.test(text.slice(0, index))) return null
      family = own
    }
    tokens += 1
    const isForged =
      own !== family ||
      tokens > MOST_TOKENS ||
      (kind === 'operator' && !mayBegin(family, turns, text.slice(last_end, index)))
    if (isInOperator && (isForged || kind !== 'other' || TURN_END.test(token))) {
      operator_end = index
      isInOperator = false
    }
    if (isForged) return { operator_end, forged_at: index }
    if (kind !== 'other') turns += 1
    if (kind === 'operator') isInOperator = true
    last_end = index + token.length
  }
  if (family < 0) return null
  return { operator_end: isInOperator ? text.length : operator_end, forged_at: -1 }
}

/** The words of a template, without its tokens. */
export const withoutTokens = (text: string): string => text.replace(TOKENS, ' ')

/** Llama 2 puts the operator's turn into the first one of the user. */
const mayBegin = (family: number, turns: number, between: string): boolean =>
  turns === 0 || (turns === 1 && family === LLAMA_2 && BEGINNING.test(between))

const LLAMA_2 = 2
const HEADINGS = FAMILIES.length - 1
const TURN_END = /im_end|eot_id|end_of_turn|\|end\|/
