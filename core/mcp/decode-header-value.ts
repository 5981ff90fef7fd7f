const PREFIX = '=?base64?'
const SUFFIX = '?='

/**
 * The value of an MCP header: plain, or in Base64 between `=?base64?` and `?=`. Header values are latin1, one character per
 * byte. Null if it is neither ASCII nor UTF-8, or not canonical Base64.
 */
export function decodeHeaderValue(value: string): string | null {
  const isEncoded =
    value.length >= PREFIX.length + SUFFIX.length &&
    value.startsWith(PREFIX) &&
    value.endsWith(SUFFIX)
  if (!isEncoded) return utf8(Buffer.from(value, 'latin1'))
  const payload = value.slice(PREFIX.length, -SUFFIX.length)
  const bytes = Buffer.from(payload, 'base64')
  return bytes.toString('base64') === payload ? utf8(bytes) : null
}

function utf8(bytes: Buffer): string | null {
  const text = bytes.toString('utf8')
  return Buffer.from(text).equals(bytes) ? text : null
}
