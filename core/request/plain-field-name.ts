import { foldCompatible } from './fold-compatible.ts'

const LEADING_BRACKETS = /^[\s[\]]+/

/**
 * The name of a field as lenient readers read it: cut at NUL, folded (NFKC), trimmed, and without the brackets of a list. PHP
 * reads ` name` and `name%00x` as `name`, qs reads `[name]` so, and Rack `]name`.
 * @param name decoded
 */
export function plainFieldName(name: string): string {
  const nul = name.indexOf('\0')
  const text = foldCompatible(nul === -1 ? name : name.slice(0, nul)).trim()
  const opened = text.replace(LEADING_BRACKETS, '')
  const bracket = opened.search(/[[\]]/)
  return bracket === -1 ? opened : opened.slice(0, bracket)
}
