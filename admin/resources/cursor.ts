import { invalid } from '../http/outcome.ts'

/** A position in a list ordered by its index: the score and member of the last item of a page. */
export interface ListPlace {
  /** As Redis formats it. */
  readonly score: string
  readonly member: string
}

const SEPARATOR = ' '
/** An index member is an id of at most 128 characters. */
const CURSOR_LENGTH_LIMIT = 300

export const writeCursor = ({ score, member }: ListPlace): string =>
  Buffer.from(score + SEPARATOR + member).toString('base64url')

/** Null when the text was not made by `writeCursor`. */
export function readCursor(text: string): ListPlace | null {
  if (text.length > CURSOR_LENGTH_LIMIT) return null
  const match = /^(\d{1,20}) ([\x21-\x7e]{1,128})$/.exec(Buffer.from(text, 'base64url').toString())
  const [, score, member] = match ?? []
  return score === undefined || member === undefined ? null : { score, member }
}

export const NO_CURSOR = invalid([{ path: 'query/cursor', message: 'is not a cursor of this API' }])

/** Newest first. */
export function compareListPlaces(a: ListPlace, b: ListPlace): number {
  const byScore = Number(b.score) - Number(a.score)
  if (byScore !== 0) return byScore
  return a.member === b.member ? 0 : a.member < b.member ? 1 : -1
}
