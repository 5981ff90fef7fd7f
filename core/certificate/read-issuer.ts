import { createHash } from 'node:crypto'

/** What a certificate of a CA says about the certificates that it issues, in DER. */
export interface Issuer {
  /** Its subject, which must be their issuer byte by byte. */
  readonly name: Buffer
  /** Its subject key identifier, which is their authority key identifier. */
  readonly key_id: Buffer
}

interface Field {
  readonly tag: number
  readonly body: Buffer
  /** With tag and length. */
  readonly whole: Buffer
}

const VERSION = 0xa0
const EXTENSIONS = 0xa3
/** 2.5.29.14 */
const SUBJECT_KEY_ID = Buffer.from([0x55, 0x1d, 0x0e])

/**
 * @param raw a certificate that OpenSSL has parsed
 * @throws when it has not the form of a certificate
 */
export function readIssuer(raw: Buffer): Issuer {
  const [certificate] = fieldsOf(raw)
  const [signed] = fieldsOf(certificate?.body ?? raw)
  const fields = fieldsOf(signed?.body ?? raw)
  const rest = fields[0]?.tag === VERSION ? fields.slice(1) : fields
  // Serial number, algorithm, issuer, validity, subject, key.
  const [, , , , subject, key] = rest
  if (subject === undefined || key === undefined) throw new Error('not a certificate')
  const extensions = rest.find(({ tag }) => tag === EXTENSIONS)
  return { name: subject.whole, key_id: keyIdIn(extensions) ?? hashOfKeyBits(key) }
}

function keyIdIn(extensions: Field | undefined): Buffer | null {
  const [list] = extensions === undefined ? [] : fieldsOf(extensions.body)
  for (const { body } of list === undefined ? [] : fieldsOf(list.body)) {
    const parts = fieldsOf(body)
    const value = parts.at(-1)
    if (parts[0]?.body.equals(SUBJECT_KEY_ID) && value !== undefined)
      return fieldsOf(value.body)[0]?.body ?? null
  }
  return null
}

/** RFC 5280, 4.2.1.2 (1): SHA-1 of the bits of the key, without the count of unused bits. */
function hashOfKeyBits(key: Field): Buffer {
  const bits = fieldsOf(key.body)[1]
  if (bits === undefined) throw new Error('not a certificate')
  return createHash('sha1').update(bits.body.subarray(1)).digest()
}

function fieldsOf(bytes: Buffer): Field[] {
  const fields: Field[] = []
  let at = 0
  while (at < bytes.length) {
    const tag = bytes[at] ?? 0
    const first = bytes[at + 1] ?? 0
    const size = first < 0x80 ? 0 : first & 0x7f
    if (size > 4) throw new Error('not DER')
    const start = at + 2 + size
    const length = size === 0 ? first : bytes.readUIntBE(at + 2, size)
    if (start + length > bytes.length) throw new Error('not DER')
    fields.push({
      tag,
      body: bytes.subarray(start, start + length),
      whole: bytes.subarray(at, start + length),
    })
    at = start + length
  }
  return fields
}
