import { useLayoutEffect, useState } from 'preact/hooks'

/** The current location in the console, kept behind `#` so that it is never sent to a server: `#/agents/agt_1?tab=keys`. */
export interface PageAddress {
  readonly parts: readonly string[]
  readonly query: Readonly<Record<string, string>>
  /** How often a link to the address that was already shown has been followed. */
  readonly repeats: number
}

/** Links to pages by their former names still work. */
const RENAMED: Readonly<Record<string, string | undefined>> = { access: 'settings' }

function readPlace(hash: string, repeats: number): PageAddress {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2)
  const [page = '', ...rest] = path.split('/').filter((part) => part !== '')
  const parts = page === '' ? [] : [RENAMED[page] ?? page, ...rest]
  return {
    parts: parts.map(decode),
    query: Object.fromEntries(new URLSearchParams(query)),
    repeats,
  }
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

/** Follows a link. The browser does not report a link to the current address, which may name an action to do again. */
export function follow(href: string): void {
  if (location.hash === href) dispatchEvent(new HashChangeEvent('hashchange'))
  else location.hash = href
}

export function usePlace(): PageAddress {
  const [{ hash, repeats }, setPlace] = useState({ hash: location.hash, repeats: 0 })
  useLayoutEffect(() => {
    const onChange = (): void =>
      setPlace((before) => ({
        hash: location.hash,
        repeats: before.repeats + (before.hash === location.hash ? 1 : 0),
      }))
    addEventListener('hashchange', onChange)
    return () => removeEventListener('hashchange', onChange)
  }, [])
  return readPlace(hash, repeats)
}

/** The link may contain an invalid escape. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
