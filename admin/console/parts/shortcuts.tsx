import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { isInField } from '../is-in-field.ts'
import { PAGES } from '../page-titles.ts'
import { goTo } from '../place.ts'
import { Dialog } from './dialog.tsx'

/** After `g`, the page of a letter. */
const LETTERS: Readonly<Record<string, string>> = {
  o: '',
  a: 'activity',
  g: 'agents',
  i: 'integrations',
  s: 'scopes',
  r: 'requests',
  l: 'alerts',
  n: 'anomalies',
  k: 'kills',
  w: 'webhooks',
  y: 'security',
  t: 'try',
  e: 'settings',
}
/** The second key has to come this soon. */
const NEXT_KEY_MS = 1_500

const OTHERS: readonly (readonly [keys: string, what: string])[] = [
  ['/ or Ctrl-K', 'Search, go to a page, or do something: stop NAME, allow NAME, create …'],
  ['j and k', 'Next and previous entry of the activity log; Enter opens it'],
  ['Esc', 'Close a dialog'],
  ['?', 'Show these shortcuts'],
]

/** The keys that work on every page, and the list of all. */
export function Shortcuts() {
  const [isOpen, setOpen] = useState(false)
  const gone_ms = useRef(0)
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (isInField(event) || event.ctrlKey || event.metaKey || event.altKey) return
      const page = LETTERS[event.key]
      const isSecond = performance.now() < gone_ms.current
      gone_ms.current = 0
      if (isSecond && page !== undefined) {
        event.preventDefault()
        goTo(page === '' ? [] : [page])
      } else if (event.key === 'g') gone_ms.current = performance.now() + NEXT_KEY_MS
      else if (event.key === '?') setOpen(true)
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  const titles = new Map(PAGES)
  const pages = Object.entries(LETTERS).map(
    ([letter, page]) => [`g ${letter}`, `Go to ${titles.get(page) ?? page}`] as const,
  )
  return (
    <>
      <button type="button" aria-keyshortcuts="?" onClick={() => setOpen(true)}>
        Shortcuts
      </button>
      {isOpen && (
        <Dialog title="Keyboard shortcuts" onClose={() => setOpen(false)}>
          <dl>
            {[...OTHERS, ...pages].map(([keys, what]) => (
              <div key={keys}>
                <dt>
                  <kbd>{keys}</kbd>
                </dt>
                <dd>{what}</dd>
              </div>
            ))}
          </dl>
          <button type="button" onClick={() => setOpen(false)}>
            Close
          </button>
        </Dialog>
      )}
    </>
  )
}
