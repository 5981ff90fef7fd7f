/** Spellings shorter than this stand in ordinary text by chance. */
const LENGTH_MIN = 6

/**
 * A text as programs write it down: as it is, percent-encoded, escaped in JSON (once and within JSON), as `\u` escapes, in
 * hexadecimal, with the case of letters swapped, and in Base64 wherever in a longer text it begins.
 */
export function spellingsOf(text: string): readonly string[] {
  const escaped = JSON.stringify(text).slice(1, -1)
  const hex = Buffer.from(text).toString('hex')
  const forms = [
    text,
    encodeURIComponent(text),
    encodeURIComponent(text).replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    escaped,
    JSON.stringify(escaped).slice(1, -1),
    text.replaceAll(/./gs, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`),
    hex,
    hex.toUpperCase(),
    text.replaceAll(/./gs, swapCase),
    ...[0, 1, 2].flatMap((offset) => inBase64(text, offset)),
  ]
  return [...new Set(forms)].filter((form) => form.length >= LENGTH_MIN)
}

const swapCase = (one: string): string =>
  one === one.toLowerCase() ? one.toUpperCase() : one.toLowerCase()

/** The first and last symbols depend on what is next to the text. */
function inBase64(text: string, offset: number): readonly string[] {
  const encoded = Buffer.from('\0'.repeat(offset) + text).toString('base64')
  const inner = encoded.slice(offset === 0 ? 0 : offset + 1, encoded.length - 4)
  return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')]
}
