/** Whether a text has one space between its words and no other blanks, as most have; much cheaper than replacing. */
const hasSingleBlanks = (text: string): boolean => {
  let wasBlank = false
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (c === 0x20) {
      if (wasBlank) return false
      wasBlank = true
      continue
    }
    wasBlank = false
    if (c < 0x20 || c === 0x5f) return false
    // DEL, C1, and all blanks beyond ASCII are in these ranges.
    if (c >= 0x7f && (c <= 0xa0 || (c >= 0x1680 && c <= 0x3000) || c === 0xfeff)) return false
  }
  return true
}

/** A run of blanks, line breaks, underscores and control characters as one blank. */
export const withSingleBlanks = (text: string): string =>
  hasSingleBlanks(text) ? text : text.replace(/[\s_\p{Cc}]+/gu, ' ')
