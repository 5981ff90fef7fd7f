import { foldToolName, UNSTABLE_CHARACTER } from './fold-tool-name.ts'

/** No method of the protocol is as long; folding makes none shorter. */
const METHOD_LIMIT = 64

const UNSTABLE_CHARACTERS = new RegExp(UNSTABLE_CHARACTER, 'gu')

/**
 * A method as the most lenient server would read it: without case, without characters that readers drop, and cut at a NUL,
 * where C strings end. Empty for a text that is too long to be a method.
 */
export function foldMethod(method: string): string {
  const end = method.indexOf('\0')
  const text = end === -1 ? method : method.slice(0, end)
  const kept = text.replace(UNSTABLE_CHARACTERS, '').trim()
  return kept.length > METHOD_LIMIT ? '' : foldToolName(kept)
}
