import { foldToolName, UNSTABLE_CHARACTER } from './fold-tool-name.ts'

const UNSTABLE_CHARACTERS = new RegExp(UNSTABLE_CHARACTER, 'gu')

/**
 * A method as the most lenient server would read it: without case, without characters that readers drop, and cut at a NUL,
 * where C strings end.
 */
export function foldMethod(method: string): string {
  const end = method.indexOf('\0')
  const text = end === -1 ? method : method.slice(0, end)
  return foldToolName(text.replace(UNSTABLE_CHARACTERS, ''))
}
