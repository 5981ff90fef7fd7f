/** How much is read from where the note begins. */
const NOTE_CHARACTERS = 320

/** Another form of the page, which documentation offers to programs. */
const OFFER =
  /\b(?:markdown|plain[- ]text|text[- ]only|llms(?:-full)?\.txt|mcp server|machine[- ]readable|openapi)\b|\/[\w./-]{1,80}\.(?:md|txt|json)\b/i
/** What goes beyond reading: a deed, a secret, a verdict, the user, other instructions. */
const ORDER =
  /\b(?:ignor\w+|disregard|forget|bypass|override|must|shall|send|forward|e?mail|upload|post|put|transfer|pay|buy|delete|remove|disable|run|execute|install|curl|wget|eval|write|append|include|insert|share|grant|approve|accept|confirm|recommend|rank|praise|rate(?! limit)|say|tell|mention|reveal|print|output|pretend|act as|you are now|passwords?|secrets?|credentials?|keys?|cookies?|users?|humans?|owner|developers?|operator|admin\w*|prompts?|instructions?|always|never|do not|don['’]t|without|first)\b/i

/** Where a note ends: at its line, its paragraph, or its string. */
const NOTE_END = /\n|\\n|<\/|<br|["”]\s*[,}\]]|[.!?] [^.!?]*[.!?] [^.!?]*[.!?] /i
/** What documentation does not say after such a note either. */
const HIDDEN_ORDER =
  /\b(?:ignor(?:e|ing)|disregard|forget|passwords?|secrets?|credentials?|(?:do not|don['’]t|never|without) (?:\w+ ){0,2}(?:mention|tell|inform|ask|show)\w*|your (?:\w+ )?(?:task|instructions?|prompt|user)|the user['’]?s?)\b/i

/**
 * Whether a note to an AI only offers it another form of the page, as documentation does: "If you are an LLM, use /guide.md".
 * @param start of the match
 * @param limit end of the text
 */
export const isOfferToReader = (
  source: Buffer,
  { start, name }: { readonly start: number; readonly name: string },
  limit: number,
): boolean => {
  if (name !== 'note_to_ai') return false
  const text = source.toString('utf8', start, Math.min(limit, start + NOTE_CHARACTERS))
  const note = text.slice(0, NOTE_END.exec(text)?.index)
  return OFFER.test(note) && !ORDER.test(note) && !HIDDEN_ORDER.test(text)
}
