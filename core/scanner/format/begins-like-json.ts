const OPEN_ARRAY = 0x5b
const OPEN_OBJECT = 0x7b
/** White space of JSON, NUL (as in UTF-16 and UTF-32), and the bytes of byte order marks. */
const SKIPPED: ReadonlySet<number> = new Set([
  0x20, 0x09, 0x0a, 0x0d, 0, 0xef, 0xbb, 0xbf, 0xfe, 0xff,
])
/**
 * What may follow the opening bracket of an array that contains objects, also for lenient readers: values in quotes, comments.
 */
const IN_ARRAY: ReadonlySet<number> = new Set([OPEN_OBJECT, OPEN_ARRAY, 0x22, 0x27, 0x2f])
/**
 * Large Brotli bodies begin with a square bracket, and one in fifty continues like an array. JSON has no control characters;
 * only one in three thousand Brotli bodies has none in this many bytes.
 */
const PROBE_BYTES = 64

/**
 * Whether a reader that takes these bytes as they are, in UTF-8, UTF-16 or UTF-32, might read a JSON object in them. An array
 * counts if it may contain one.
 */
export function beginsLikeJson(bytes: Buffer): boolean {
  const start = skip(bytes, 0)
  if (bytes[start] === OPEN_OBJECT) return true
  const inside = skip(bytes, start + 1)
  return (
    bytes[start] === OPEN_ARRAY &&
    IN_ARRAY.has(bytes[inside] ?? 0) &&
    !bytes.subarray(inside, inside + PROBE_BYTES).some(isControl)
  )
}

const isControl = (byte: number): boolean => byte < 0x20 && !SKIPPED.has(byte)

function skip(bytes: Buffer, start: number): number {
  let i = start
  while (i < bytes.length && SKIPPED.has(bytes[i] ?? 0)) i++
  return i
}
