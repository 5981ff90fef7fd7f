/** As many combining marks in a row as the Stream-Safe Text Format of Unicode allows (UAX #15); no language has as many. */
const MARKS_MAX = 30
/** Combining marks, and the two characters that become one when they are normalized. */
const MARK = String.raw`[\p{M}\uff9e\uff9f]`
/** Begins at the first mark of a row, so that the search is linear. */
const TOO_MANY_MARKS = new RegExp(`(?<!${MARK})${MARK}{${MARKS_MAX + 1}}`, 'u')
const FULL_RUN = new RegExp(`${MARK}{${MARKS_MAX}}(?=${MARK})`, 'gu')
/** COMBINING GRAPHEME JOINER, which marks are not moved across. */
const JOINER = '\u034f'
// oxlint-disable-next-line no-control-regex -- control characters are ASCII, too.
const ASCII = /^[\0-\x7f]*$/

/** Whether no row of combining marks is longer than that of any language. To sort a row takes time quadratic in its length. */
export const isStreamSafe = (text: string): boolean =>
  ASCII.test(text) || !TOO_MANY_MARKS.test(text)

/**
 * Normalizes a text in time linear in its length: a joiner divides a row of too many marks, as the Stream-Safe Text Format has
 * it. The result is up to 18 times as long as the text.
 */
export function normalizeText(text: string, form: 'NFC' | 'NFKC' | 'NFKD'): string {
  if (ASCII.test(text)) return text
  return (TOO_MANY_MARKS.test(text) ? text.replace(FULL_RUN, `$&${JOINER}`) : text).normalize(form)
}
