import type { FixableEntry } from './fixes-of.ts'

/** Where a call to no integration went. The gateway writes the host in punycode; a star in it would be a wildcard. */
export function originOfEntry({ data }: Pick<FixableEntry, 'data'>): URL | null {
  const base_url = data['base_url']
  if (typeof base_url !== 'string' || base_url.includes('*') || !URL.canParse(base_url)) return null
  return new URL(base_url)
}
