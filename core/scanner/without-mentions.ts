/** How far before a mention its sentence is taken out with it. */
const FRAME_CHARACTERS = 160

type Span = { readonly start: number; readonly end: number }

/**
 * A text with the attacks that it only mentions blanked, each with the part of its sentence that stands before it. What
 * follows stays, so that one harmless sentence cannot silence the learned model for the rest.
 */
export const withoutMentions = (source: Buffer, text: Span, mentions: readonly Span[]): Buffer => {
  const bytes = Buffer.from(source.subarray(text.start, text.end))
  for (const { start, end } of mentions) {
    const at = start - text.start
    const before = bytes.toString('latin1', Math.max(0, at - FRAME_CHARACTERS), at)
    const sentence = /[^.!?\n;]*$/.exec(before)?.[0].length ?? 0
    bytes.fill(0x20, Math.max(0, at - sentence), Math.min(bytes.length, end - text.start))
  }
  return bytes
}
