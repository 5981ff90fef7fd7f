import type { ScopeRule } from './model.ts'

/** A rule on one line, `GET,HEAD /models/** /files/*`; null if it is none. The service checks methods and paths. */
export function readRule(text: string): ScopeRule | null {
  const [methods = '', ...paths] = text.trim().split(/\s+/)
  const isRule = paths.length > 0 && paths.every((path) => path.startsWith('/'))
  return isRule ? { methods: methods.toUpperCase().split(','), paths } : null
}

/** What `readRule` reads. */
export const writeRule = ({ methods, paths }: Pick<ScopeRule, 'methods' | 'paths'>): string =>
  [methods.join(','), ...paths].join(' ')
