/**
 * Whether a text is valid in a header: a line break would begin another header or request.
 * @param text one character per byte (latin1).
 */
export function isHeaderValue(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if ((c < 0x20 && c !== 0x09) || c === 0x7f) return false
  }
  return true
}
