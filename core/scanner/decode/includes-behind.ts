/**
 * Whether a text has `before` and directly behind it `behind`. A search stops at each first byte of what it looks for, so this looks for
 * the part that begins with a rare one.
 */
export const includesBehind = (text: Buffer, before: string, behind: string): boolean => {
  for (let at = text.indexOf(behind); at >= 0; at = text.indexOf(behind, at + 1))
    if (at >= before.length && text.toString('latin1', at - before.length, at) === before)
      return true
  return false
}
