/** Base58 takes quadratic time: longer words than this are not tried. */
const LONGEST_BASE58 = 256
const SHORTEST = 16

const valuesOf = (alphabet: string): Int8Array => {
  const values = new Int8Array(256).fill(-1)
  for (const [value, character] of Array.from(alphabet).entries())
    values[character.charCodeAt(0)] = value
  return values
}

const UPPER32 = valuesOf('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567')
const LOWER32 = valuesOf('abcdefghijklmnopqrstuvwxyz234567')
const VALUES58 = valuesOf('123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz')

const isText = (bytes: Buffer): boolean =>
  bytes.every(
    (byte) =>
      (byte >= 0x20 && byte < 0x7f) ||
      byte === 0x0a ||
      byte === 0x0d ||
      byte >= 0xc2 ||
      (byte >= 0x80 && byte < 0xc0),
  )

const base32 = (source: Buffer, start: number, end: number, values: Int8Array): Buffer | null => {
  const bytes = Buffer.allocUnsafe(((end - start) * 5) >> 3)
  let n = 0
  let bits = 0
  let held = 0
  for (let i = start; i < end; i += 1) {
    const value = values[source[i] as number] as number
    if (value < 0) return null
    held = ((held << 5) | value) & 0xfff
    bits += 5
    if (bits >= 8 && n < bytes.length) {
      bits -= 8
      bytes[n] = (held >> bits) & 0xff
      n += 1
    }
  }
  return isText(bytes) ? bytes : null
}

/** A word in Base32, if it is text; null if not. */
export const decodeBase32 = (source: Buffer, start: number, end: number): Buffer | null =>
  end - start < SHORTEST
    ? null
    : (base32(source, start, end, UPPER32) ?? base32(source, start, end, LOWER32))

/** A word in Base58, if it is text; null if not. */
export const decodeBase58 = (source: Buffer, start: number, end: number): Buffer | null => {
  if (end - start < SHORTEST || end - start > LONGEST_BASE58) return null
  const bytes: number[] = []
  for (let i = start; i < end; i += 1) {
    let carry = VALUES58[source[i] as number] as number
    if (carry < 0) return null
    for (let k = 0; k < bytes.length; k += 1) {
      carry += (bytes[k] as number) * 58
      bytes[k] = carry & 0xff
      carry >>= 8
    }
    while (carry > 0) {
      bytes.push(carry & 0xff)
      carry >>= 8
    }
  }
  const text = Buffer.from(bytes.reverse())
  return text.length > 0 && isText(text) ? text : null
}

/** Ascii85 between `<~` and `~>`. */
export const decodeAscii85 = (text: string): Buffer => {
  const bytes: number[] = []
  let group: number[] = []
  const flush = (): void => {
    if (group.length < 2) return
    const count = group.length - 1
    let value = 0
    for (let k = 0; k < 5; k += 1) value = value * 85 + (group[k] ?? 84)
    for (let k = 0; k < count; k += 1) bytes.push(Math.floor(value / 256 ** (3 - k)) & 0xff)
    group = []
  }
  for (let i = 0; i < text.length; i += 1) {
    const value = text.charCodeAt(i) - 33
    if (value < 0 || value > 84) continue
    group.push(value)
    if (group.length === 5) flush()
  }
  flush()
  return Buffer.from(bytes)
}

/** The lines of a uuencoded file. */
export const decodeUu = (lines: readonly string[]): Buffer => {
  const bytes: number[] = []
  for (const line of lines) {
    const length = (line.charCodeAt(0) - 32) & 63
    if (length === 0 || line === 'end') break
    const first = bytes.length
    for (let i = 1; i + 3 < line.length + 3 && bytes.length - first < length; i += 4) {
      let value = 0
      for (let k = 0; k < 4; k += 1) value = (value << 6) | ((line.charCodeAt(i + k) - 32) & 63)
      bytes.push((value >> 16) & 0xff, (value >> 8) & 0xff, value & 0xff)
    }
    bytes.length = Math.min(bytes.length, first + length)
  }
  return Buffer.from(bytes)
}
