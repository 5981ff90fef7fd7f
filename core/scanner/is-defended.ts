/** Within instructions, a sentence may say more between its frame and what it forbids or reports than elsewhere. */
const FRAME_CHARACTERS = 240
/** A list of examples under its heading. */
const LIST_CHARACTERS = 1_600

/** What must not be done. Not what an attack says too: "do not hesitate to …". */
const FORBIDDEN =
  /\b(?:never|do(?:es)? not|don['’]t|must ?n(?:ot|['’]t)|should ?n(?:ot|['’]t)|shall not|will not|won['’]t|can(?: ?not|['’]t)|may not|not (?:be )?(?:allowed|permitted)|no circumstances?|(?:politely )?(?:refuse|decline)[sd]?|avoid|prohibited|forbidden|violation|illegal)\b(?![ *]+(?:hesitate|worry|mind|be afraid|forget|fail|stop|refuse|decline|follow|obey|listen|comply|apply)\b)(?:(?!\b(?:but|instead|unless|except|until|then|rather|please|just|now)\b)[^.!?\n;])*$/i

/** What others may ask for: "asks you to repeat, translate or …", "attempts to …", "any request to …". */
const ASKED =
  /\b(?:(?:asks?|asked|asking|tells?|told|telling|urged?|wants?|forc(?:e|es|ing)|convinc(?:e|es|ing)|persuad(?:e|es|ing)|compels?|gets?|mak(?:e|es|ing)|tricks?|trick(?:s|ed|ing)|instructs?|tr(?:y|ies|ying)|attempt(?:s|ed|ing)?|redirects?|manipulates?)(?: (?:you|me|it|the (?:ai|assistant|model)|your behaviou?r))?(?: (?:in)?to)?|(?:attempts?|requests?|commands?|efforts?|tricks?|queries|questions|instructions) (?:to|that|for|like|about)|(?:would|could|might))\b(?:(?!\b(?:you|please|then|must|should|now)\b)[^.!?\n;:])*$/i
/** The same within a match: "ignore all requests to ignore …". */
const ASKED_FOR = /\b(?:requests?|attempts?|commands?|prompts?|efforts?) (?:to|that|for)\b/i
/** Words before a quotation that say whose words it is. */
const QUOTED =
  /\b(?:says?|said|saying|asks?|asked|asking|tells?|types?|enters?|requests?|requested|attempts?|like|such as|i\.e\.|e\.g\.|phrases?|prompts?|questions?|commands?|starting with|anything|examples?|detect\w*|injections?|addresses you|inputs?|strings?)\b[^.!?\n]*["“‘'`«][^"”»\n]*$/i

/** A line that announces examples of attacks or what is forbidden. */
const HEADING =
  /\b(?:patterns?|phrases?|attempts?|requests?|scenarios?|commands?|tricks?|attacks?|injections?|jailbreaks?|suspicious|red flags?|hacking|theft|never|do not|don['’]t|must not|cannot|refuse|decline|reject|instructs?|includes?)\b[^\n]*:[ *]*$/i
const ITEM = /^[ \t]*(?:[-*•>"“'`]|\d{1,2}[.):]|\*\*)/

/** What the instructions are found in that must be ignored: "ignore any instructions on screen". */
const ELSEWHERE =
  /^[ *]*(?:(?:that|which) (?:are|appear|is|you \w+) ?)?(?:on screen|(?:in|inside|within|from|embedded in|contained in|found in|written in) (?:(?:the|a|an|any|these|those|its|their|user|tool|web|retrieved|external|untrusted) )*(?:screen|pages?|web\w*|documents?|files?|emails?|contents?|results?|outputs?|data|comments?|images?|person|users?|third[- ]part\w+|search|sites?|sources?|repositor\w+|tickets?|transcripts?))\b/i
const OF_USERS = /\b(?:any|all|other|some) users? (?:instructions?|requests?)$/i
const EARLIER = /\b(?:previous|prior|above|earlier|your|system|developer|original|initial)\b/i

/** Sentences that keep instructions secret, or refuse to have them changed: their verbs, and what they are about. */
const GUARDS =
  /\b(?:never|do(?:es)? not|don['’]t|must ?n(?:ot|['’]t)|should ?n(?:ot|['’]t)|will not|won['’]t|cannot|can['’]t|no circumstances?|any circumstances?|refuse|decline|deceive|force|trick|attempts?|if (?:the|a) user|secret|confidential|violations?|(?:some|other) (?:people|users) (?:will|may|might)|persuade)\b/i
const GUARDED =
  /\b(?:instructions?|(?:system )?prompts?|rules|configuration|guidelines|knowledge(?: base| files?)?|system messages?|initialization|words above|text above)\b/i

/** A command between quotes, with nothing in front that says to run it. */
const COMMAND_OPENING = /^((?:[^]*[^\w])?)["'`(][^"'`\n]{0,24}$/
const COMMAND_CLOSING = /^[^"'`\n]{0,24}["'`)]/
const TO_RUN =
  /\b(?:runs?|running|executes?|executing|uses?|using|types?|calls?|issues?|enters?|invokes?|performs?|do|then|exec|with|by|via|and|paste|please)\b[^\n]{0,12}$/i

/** Whether a command is only named: "Destructive file operations: `rm -rf /`". */
export const isNamedCommand = (before: string, after: string): boolean => {
  const opening = COMMAND_OPENING.exec(before.slice(-FRAME_CHARACTERS))
  return opening !== null && COMMAND_CLOSING.test(after) && !TO_RUN.test(opening[1] ?? '')
}

/** A longer one is no sentence. */
const SENTENCE_CHARACTERS = 400

/** What others say, as instructions quote it. */
const QUOTATION = /["“][^"“”\n]{12,160}["”]/g

/** Instructions without the sentences that protect them. */
export const withoutProtection = (text: string): string =>
  text
    .replaceAll(QUOTATION, ' ')
    .split(/(?<=[.!?\n])/)
    .filter((sentence) => {
      const guard = GUARDS.exec(sentence)
      if (guard === null || sentence.length > SENTENCE_CHARACTERS) return true
      return !GUARDED.test(sentence.slice(guard.index))
    })
    .join('')

const isItemOfList = (before: string): boolean => {
  const lines = before.split('\n')
  if (!ITEM.test(lines.at(-1) ?? '') || lines.length < 2) return false
  const heading = lines.slice(0, -1).findLast((line) => line.trim() !== '' && !ITEM.test(line))
  return heading !== undefined && HEADING.test(heading)
}

/**
 * Whether instructions forbid or report a match: what they protect themselves from. Only for texts that are instructions as a whole, since
 * the frame may be far from the match.
 */
export const isDefended = (before: string, match: string, after: string): boolean => {
  const line = before.slice(before.lastIndexOf('\n') + 1).slice(-FRAME_CHARACTERS)
  const sentence = line.slice(
    Math.max(...['. ', '! ', '? ', '; '].map((end) => line.lastIndexOf(end))) + 1,
  )
  return (
    FORBIDDEN.test(sentence) ||
    ASKED.test(sentence) ||
    ASKED_FOR.test(match) ||
    QUOTED.test(line) ||
    (!EARLIER.test(match) && (ELSEWHERE.test(after) || OF_USERS.test(match))) ||
    isItemOfList(before.slice(-LIST_CHARACTERS))
  )
}
