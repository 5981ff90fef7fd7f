/**
 * The references in a `Link` header, by either way that clients take it apart: what stands in angle brackets, and what
 * stands before the first semicolon of each member. Null when there are more than `limit`.
 */
export function linkTargets(value: string, limit: number): readonly string[] | null {
  const targets = new Set<string>()
  for (const [, bracketed = ''] of value.matchAll(/<([^>]*)>?/g)) {
    targets.add(bracketed)
    if (targets.size > limit) return null
  }
  for (const member of value.split(/,\s*</)) {
    targets.add((member.split(';', 1)[0] ?? '').replaceAll(/^[\s<>'"]+|[\s<>'"]+$/g, ''))
    if (targets.size > limit) return null
  }
  return [...targets]
}

/** The reference in `Refresh: 5; url=/next`, as browsers read it; empty where it names none. */
export function refreshTarget(value: string): string {
  const rest = value.replace(/^\s*[\d.]*\s*[;,]?\s*/, '').replace(/^url\s*=\s*/i, '')
  const quote = /^['"]/.exec(rest)?.[0]
  return quote === undefined ? rest : (rest.slice(1).split(quote, 1)[0] ?? '')
}
