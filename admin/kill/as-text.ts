/** A member of any type as text of a bounded length. */
export function asText(value: unknown, limit: number): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  // A lone surrogate cannot be encoded in UTF-8.
  return Buffer.from(text.slice(0, limit)).toString()
}
