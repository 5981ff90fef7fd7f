import { normalizeText } from '../bounded/normalize-text.ts'

/**
 * Characters that readers drop, replace or do not show: control and format characters, lone surrogates, private-use and
 * unassigned code points, line separators, default-ignorable code points, and the replacement character itself.
 */
export const UNSTABLE_CHARACTER = /[\p{C}\p{Zl}\p{Zp}\p{DI}\ufffd]/u

/** NFKC and conversion to upper case first also fold look-alikes such as `ſ`; white space around a name is removed. */
export const foldToolName = (name: string): string =>
  normalizeText(name, 'NFKC').trim().toUpperCase().toLowerCase()
