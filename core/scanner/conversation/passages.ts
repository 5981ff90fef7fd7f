/**
 * Texts that frameworks put into the words of an operator: what was found, retrieved or received. The texts are read as JSON writes
 * them.
 */
const NAMES =
  'context|documents?|docs?|search[_-]?results?|results?|retrieved(?:[_-]?\\w{1,20})?|retrieval|passages?|snippets?|chunks?|sources?|e?mails?|inbox|web[_-]?pages?|page(?:[_-]?content)?|website|articles?|attachments?|files?(?:[_-]?contents?)?|transcripts?|tool[_-]?(?:outputs?|results?|responses?)|observations?|knowledge(?:[_-]?base)?|untrusted(?:[_-]?\\w{1,20})?|external(?:[_-]?\\w{1,20})?|user[_-]?(?:input|data|content|documents?|files?)|reviews?|comments?|tickets?|messages?|posts?'

const LT = '(?:<|\\\\u003[cC])'
const GT = '(?:>|\\\\u003[eE])'
const TAG = new RegExp(`${LT}(\\\\?/)?(${NAMES})(?:\\s[^<>]{0,200})?${GT}`, 'gi')

/** A line that announces them, and nothing else. */
const LABEL =
  /(?:^|\\n|\n)(?:#{1,4} ?|\*\*|={2,}|-{3,}|\[)? ?(?:(?:the |relevant |retrieved |additional |provided |following |use the following |here (?:is|are) (?:the |some )?){0,3}(?:context|documents?|search results?|retrieved (?:documents?|context|information|passages?)|passages?|snippets?|sources|e-?mails?(?: thread)?|web ?page(?: content)?|article|attachment|transcript|tool (?:output|results?)|knowledge(?: base)?(?: articles?)?|page content|file contents?))(?: from [\w ]{1,30})?(?: ?\(.{0,40}\))? ?:? ?(?:\*\*|={2,}|-{3,}|\])? ?:? ?(?=\\n|\n)/gi
/** What a label announces on its own line: `Context: …`. */
const SHORT_LABEL =
  /(?:^|\\n|\n)(?:\*\*)?(?:context|retrieved (?:context|documents?)|search results?|documents?|e-?mail|article|web ?page|transcript|tool (?:output|result))(?:\*\*)?:(?:\*\*)? ?(?=\S)/gi
/** Marks around what a label announces. */
const QUOTE_OPEN = /"""|'''|\\"\\"\\"|```|~~~/

/** More than a prompt has; behind the last, everything is one. */
const MOST_PASSAGES = 256

export type Passage = { readonly start: number; readonly end: number }

/**
 * The passages of an operator's text that are not the operator's words: what stands between tags, from the first opening tag of a name to
 * its last closing tag, because what is in between may have closed it; and what follows a label, to the end of the text, or between the
 * marks that follow it. Ascending, without overlaps.
 */
export const passagesIn = (text: string): readonly Passage[] => {
  const passages: Passage[] = []
  const open = new Map<string, number>()
  const closed = new Map<string, number>()
  for (const { 0: tag, 1: slash, 2: name = '', index } of text.matchAll(TAG)) {
    const known = name.toLowerCase()
    if (slash !== undefined) closed.set(known, index)
    else if (!open.has(known)) open.set(known, index + tag.length)
  }
  for (const [name, start] of open) {
    const end = closed.get(name) ?? -1
    if (end > start) passages.push({ start, end })
  }
  for (const label of [LABEL, SHORT_LABEL])
    for (const { 0: found, index } of text.matchAll(label)) {
      const start = index + found.length
      const isLast = passages.length >= MOST_PASSAGES
      const end = isLast ? text.length : endOfLabelled(text, start)
      passages.push({ start, end })
      // It reaches to the end, and so would all later ones.
      if (end === text.length) break
    }
  return joined(passages)
}

const joined = (passages: readonly Passage[]): readonly Passage[] => {
  const whole: { start: number; end: number }[] = []
  for (const { start, end } of passages.toSorted((a, b) => a.start - b.start)) {
    const last = whole.at(-1)
    if (last !== undefined && start <= last.end) last.end = Math.max(last.end, end)
    else whole.push({ start, end })
  }
  return whole
}

/** How far behind a label the marks around its passage begin. */
const MARK_CHARACTERS = 40

const endOfLabelled = (text: string, start: number): number => {
  const mark = QUOTE_OPEN.exec(text.slice(start, start + MARK_CHARACTERS))
  if (mark === null) return text.length
  const last = text.lastIndexOf(mark[0])
  return last > start + mark.index ? last : text.length
}
