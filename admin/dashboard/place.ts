import { useEffect, useState } from 'preact/hooks'

/** The current location in the console, kept behind `#` so that it is never sent to a server: `#/agents/agt_1?tab=keys`. */
export interface PageAddress {
  readonly parts: readonly string[]
  readonly query: Readonly<Record<string, string>>
}

export function readPlace(hash: string): PageAddress {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2)
  const parts = path.split('/').filter((part) => part !== '')
  return { parts: parts.map(decode), query: Object.fromEntries(new URLSearchParams(query)) }
}

export function linkTo(
  parts: readonly string[],
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const set = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  const text = new URLSearchParams(set as [string, string][]).toString()
  return `#/${parts.map(encodeURIComponent).join('/')}${text === '' ? '' : `?${text}`}`
}

export function goTo(
  parts: readonly string[],
  query: Readonly<Record<string, string | undefined>> = {},
): void {
  location.hash = linkTo(parts, query)
}

export function usePlace(): PageAddress {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const onChange = (): void => setHash(location.hash)
    addEventListener('hashchange', onChange)
    return () => removeEventListener('hashchange', onChange)
  }, [])
  return readPlace(hash)
}

/** The link may contain an invalid escape. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
