interface MarkedPart {
  readonly part: string
  readonly isMarked: boolean
}

/**
 * A text in parts, of which those are marked that any of the ranges covers.
 * @param ranges in bytes of the text as UTF-8; they may overlap
 */
export function markRanges(
  text: string,
  ranges: readonly { readonly start: number; readonly end: number }[],
): readonly MarkedPart[] {
  const bytes = new TextEncoder().encode(text)
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const parts: MarkedPart[] = []
  const add = (from: number, to: number, isMarked: boolean): void => {
    if (from < to) parts.push({ part: decoder.decode(bytes.subarray(from, to)), isMarked })
  }
  let at = 0
  for (const { start, end } of merged(ranges)) {
    const [from, to] = [beginOf(bytes, start), endOf(bytes, end)]
    add(at, from, false)
    add(Math.max(at, from), to, true)
    at = Math.max(at, to)
  }
  add(at, bytes.length, false)
  return parts
}

type Range = { readonly start: number; readonly end: number }

/** In the order of the text, without overlaps. */
function merged(ranges: readonly Range[]): readonly Range[] {
  const all: Range[] = []
  for (const range of [...ranges].sort((a, b) => a.start - b.start)) {
    const last = all.at(-1)
    if (last === undefined || range.start > last.end) all.push(range)
    else all[all.length - 1] = { start: last.start, end: Math.max(last.end, range.end) }
  }
  return all
}

const isInside = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80

/** A range that begins or ends within a character covers all of it. */
function beginOf(bytes: Uint8Array, at: number): number {
  let begin = Math.min(at, bytes.length)
  while (begin > 0 && isInside(bytes[begin])) begin--
  return begin
}

function endOf(bytes: Uint8Array, at: number): number {
  let end = Math.min(at, bytes.length)
  while (end < bytes.length && isInside(bytes[end])) end++
  return end
}
