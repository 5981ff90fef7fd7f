/**
 * The references in a `Link` header, by each way that clients take it apart: what stands in the outer or the inner of
 * nested angle brackets, and what stands before the first semicolon of each member. Null when there are more than `limit`.
 */
export function linkTargets(value: string, limit: number): readonly string[] | null {
  const targets = new Set<string>()
  for (const brackets of [/<([^>]*)>?/g, /<([^<>]*)>?/g])
    for (const [, bracketed = ''] of value.matchAll(brackets)) {
      targets.add(bracketed)
      if (targets.size > limit) return null
    }
  for (const member of value.split(/,\s*</)) {
    targets.add(
      (member.split(';', 1)[0] ?? '').replaceAll(/^[\s<>'"]+|(?<![\s<>'"])[\s<>'"]+$/g, ''),
    )
    if (targets.size > limit) return null
  }
  return [...targets]
}

export interface LinkMember {
  readonly target: string
  /** All that follows the closing bracket. */
  readonly parameters: string
  /** Its relation is another page of a list: `next`, `prev`, `first` or `last`. */
  readonly isPage: boolean
}

const MEMBER =
  /\s*<([^<>\s]*)>((?:\s*;\s*[\w!#$&+.^`|~*-]+(?:\s*=\s*(?:"[^"\\<>]*"|[^\s",;<>]+))?)*)\s*(?:,|$)/y
const RELATION = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s",;]+))/i
const PAGES: ReadonlySet<string> = new Set(['next', 'prev', 'previous', 'first', 'last'])

/** The members of a `Link` header that every client takes apart in the same way; null if this one is not written so plainly. */
export function readLinks(value: string): readonly LinkMember[] | null {
  const members: LinkMember[] = []
  MEMBER.lastIndex = 0
  while (MEMBER.lastIndex < value.length) {
    const found = MEMBER.exec(value)
    if (found === null) return null
    const [, target = '', parameters = ''] = found
    const [, quoted, token = ''] = RELATION.exec(parameters) ?? []
    const relations = (quoted ?? token).toLowerCase().split(/\s+/)
    members.push({ target, parameters, isPage: relations.some((one) => PAGES.has(one)) })
  }
  return members
}

/** Signs before the path of a `Refresh`; readers differ in which of them the reference follows. */
const REFRESH_SIGNS_MAX = 8

/**
 * The references in `Refresh: 5; url=/next`: as browsers read it, and what follows any other sign before the path.
 * Empty where it names none.
 */
export function refreshTargets(value: string): readonly string[] {
  const rest = value.replace(/^\s*[\d.]*\s*[;,]?\s*/, '').replace(/^url\s*=\s*/i, '')
  const start = /^[^/\\?#]*/.exec(value)?.[0] ?? ''
  const signs = [...start.matchAll(/[=;,]\s*/g)].slice(-REFRESH_SIGNS_MAX)
  return [rest, ...signs.map(({ 0: sign, index }) => value.slice(index + sign.length))].map(
    unquoted,
  )
}

function unquoted(text: string): string {
  const quote = /^['"]/.exec(text)?.[0]
  return quote === undefined ? text : (text.slice(1).split(quote, 1)[0] ?? '')
}

/** The first group is the name, where it says that a URL follows. */
const PARAMETER = /(?:\b(resource_metadata|\w*ur[il])\s*)?=\s*(?:"((?:[^"\\]|\\.)*)|([^\s",]+))/gi
/** What may lead out of the folder of the call, which a plain word, a nonce or the scope of a container registry does not. */
const MAY_LEAD = /https?:|^[\0-\x20]*(?:url:|[/\\.])|(?:\.|%2e){2}/i

/**
 * The URLs in the parameters of `WWW-Authenticate`, to which clients send what they have to show, or ask for a token:
 * `realm` of container registries, `resource_metadata` of MCP. Null when there are more than `limit`.
 */
export function challengeTargets(value: string, limit: number): readonly string[] | null {
  const targets = new Set<string>()
  for (const [, name, quoted, token = ''] of value.matchAll(PARAMETER)) {
    // A reader of URLs drops tabs.
    for (const text of quoted === undefined ? [token] : [quoted, quoted.replaceAll(/\\(.)/g, '$1')])
      if (name !== undefined || MAY_LEAD.test(text.replaceAll('\t', ''))) targets.add(text)
    if (targets.size > limit) return null
  }
  return [...targets]
}
