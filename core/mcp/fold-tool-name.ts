/**
 * What readers drop, replace or do not show: controls, format characters, lone surrogates, private use and unassigned
 * code points, line separators, what Unicode calls ignorable, and the replacement character itself.
 */
export const UNSTABLE_CHARACTER = /[\p{C}\p{Zl}\p{Zp}\p{DI}\ufffd]/u

/** NFKC and the way over upper case fold look-alikes such as `ſ`; white space around a name is cut. */
export const foldToolName = (name: string): string =>
  name.normalize('NFKC').trim().toUpperCase().toLowerCase()
