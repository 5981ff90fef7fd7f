/** A member of any type as text of a bounded length; empty if it is nested too deeply to be written. */
export function asText(value: unknown, limit: number): string {
  const text = typeof value === 'string' ? value : written(value)
  // A lone surrogate cannot be encoded in UTF-8.
  return Buffer.from(text.slice(0, limit)).toString()
}

function written(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch {
    // JSON.parse reads any depth, and JSON.stringify runs out of stack.
    return ''
  }
}
