/** Writes the few forms of DER (X.690) that a certificate of the gateway needs. */
export const der = {
  sequence: (...parts: readonly Buffer[]): Buffer => tlv(0x30, ...parts),
  set: (...parts: readonly Buffer[]): Buffer => tlv(0x31, ...parts),
  boolean: (value: boolean): Buffer => tlv(0x01, Buffer.from([value ? 0xff : 0])),
  /** Of a number that is not negative, as big-endian bytes. */
  integer: (bytes: Buffer): Buffer => {
    let start = 0
    while (start < bytes.length - 1 && bytes[start] === 0) start++
    const body = bytes.subarray(start)
    return tlv(0x02, ...((body[0] ?? 0) >= 0x80 ? [Buffer.from([0])] : []), body)
  },
  octets: (bytes: Buffer): Buffer => tlv(0x04, bytes),
  /** @param unused how many of the last bits do not count */
  bits: (bytes: Buffer, unused = 0): Buffer => tlv(0x03, Buffer.from([unused]), bytes),
  nothing: Buffer.from([0x05, 0]),
  identifier: (text: string): Buffer => {
    const [first = 0, second = 0, ...rest] = text.split('.').map(Number)
    return tlv(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(arcBytes)]))
  },
  text: (text: string): Buffer => tlv(0x0c, Buffer.from(text, 'utf8')),
  /** UTCTime up to 2049, GeneralizedTime after it, as RFC 5280 requires. */
  time: (ms: number): Buffer => {
    const digits = `${new Date(ms).toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`
    return Number(digits.slice(0, 4)) < 2050
      ? tlv(0x17, Buffer.from(digits.slice(2)))
      : tlv(0x18, Buffer.from(digits))
  },
  /** A field with a number in place of its type; `constructed` holds whole fields. */
  tagged: (tag: number, body: Buffer, constructed: boolean): Buffer =>
    tlv((constructed ? 0xa0 : 0x80) | tag, body),
} as const

function tlv(tag: number, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts)
  return Buffer.concat([Buffer.from([tag, ...lengthBytes(body.length)]), body])
}

function lengthBytes(length: number): number[] {
  if (length < 0x80) return [length]
  const bytes: number[] = []
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256)
  return [0x80 | bytes.length, ...bytes]
}

/** Seven bits in each byte; all but the last have the highest bit. */
function arcBytes(arc: number): number[] {
  const bytes = [arc % 128]
  for (let rest = Math.floor(arc / 128); rest > 0; rest = Math.floor(rest / 128))
    bytes.unshift((rest % 128) | 0x80)
  return bytes
}
