import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { countOf } from '../count-of.ts'
import { isInField } from '../is-in-field.ts'
import type { Findings, Found } from '../find-anything.ts'
import { NOT_LOADED } from '../lazy.tsx'
import { follow } from '../place.ts'
import { useRights } from '../session.ts'
import { useSettled } from '../use-settled.ts'

export const loadFindAnything = () => import('../bundles/find-anything.ts')

const TEXT_LIMIT = 200
const NOTHING: readonly Found[] = []

/** Opens what a text names: a request id, an agent, an API, a scope, a webhook, a page or an action. `/` and Ctrl-K focus it. */
export function Finder() {
  const [text, setText] = useState('')
  const [active, setActive] = useState(0)
  const [isOpen, setOpen] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  const id = useId()
  const wanted = text.trim()
  const { findings, isCurrent } = useFindings(wanted, isOpen)
  const found = findings?.ok === true ? findings.found : NOTHING
  useShortcut(() => input.current?.focus())
  // Enter before the answer has come opens the first result when it comes, unless the user goes on.
  const isAwaited = useRef(false)
  const show = (isWanted: boolean): void => {
    isAwaited.current = false
    setOpen(isWanted)
  }
  const close = (): void => (setText(''), show(false))
  const goTo = ({ href }: Found): void => {
    close()
    follow(href)
  }
  useEffect(() => {
    setActive(0)
    const first = found[0]
    if (isCurrent && isAwaited.current && first !== undefined) goTo(first)
    if (isCurrent) isAwaited.current = false
  }, [findings, isCurrent])
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined && found.length > 0) {
      event.preventDefault()
      setActive((active + step + found.length) % found.length)
    } else if (event.key === 'Enter') {
      event.preventDefault()
      const one = found[active]
      if (isCurrent && one !== undefined) goTo(one)
      else isAwaited.current = true
    } else if (event.key === 'Escape') close()
  }
  return (
    <div class="finder" role="search" aria-label="Everything">
      <input
        ref={input}
        type="text"
        role="combobox"
        aria-label="Search or go to"
        aria-expanded={isOpen && found.length > 0}
        aria-controls={`${id}-found`}
        aria-activedescendant={isOpen && found.length > 0 ? `${id}-${active}` : undefined}
        aria-autocomplete="list"
        aria-keyshortcuts="/ Control+K Meta+K"
        placeholder="Search or do …"
        title="Shortcut: / or Ctrl-K"
        autocomplete="off"
        spellcheck={false}
        maxLength={TEXT_LIMIT}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value)
          show(true)
        }}
        onFocus={() => show(true)}
        onBlur={() => show(false)}
        onKeyDown={onKeyDown}
      />
      <Results id={id} found={found} active={active} isShown={isOpen} onChosen={goTo}>
        {isOpen ? statusOf(findings, isCurrent) : ''}
      </Results>
    </div>
  )
}

const Results = ({
  id,
  found,
  active,
  isShown,
  onChosen,
  children,
}: {
  id: string
  found: readonly Found[]
  active: number
  isShown: boolean
  onChosen: (one: Found) => void
  children: string
}) => (
  <div class="found" hidden={!isShown}>
    <ul role="listbox" id={`${id}-found`} aria-label="Results">
      {found.map((one, at) => (
        <Result
          key={one.href}
          one={one}
          id={`${id}-${at}`}
          isActive={at === active}
          onChosen={onChosen}
        />
      ))}
    </ul>
    <p role="status" class="muted">
      {children}
    </p>
  </div>
)

/** A pointer opens it before the input loses the focus, which hides the list. */
const Result = ({
  one,
  id,
  isActive,
  onChosen,
}: {
  one: Found
  id: string
  isActive: boolean
  onChosen: (one: Found) => void
}) => (
  <li
    id={id}
    role="option"
    aria-selected={isActive}
    onMouseDown={(event) => event.preventDefault()}
    onClick={() => onChosen(one)}
  >
    <span class="kind">{one.kind}</span> <span class="title">{one.title}</span>
    {one.detail !== '' && <code>{one.detail}</code>}
  </li>
)

function statusOf(findings: Findings | null, isCurrent: boolean): string {
  if (!isCurrent || findings === null) return 'Searching …'
  if (!findings.ok) return findings.problem.message
  const { length } = findings.found
  return length === 0 ? 'Nothing found.' : countOf(length, 'result')
}

/** The findings of the last answer, and whether it is the answer to this text. */
function useFindings(
  wanted: string,
  isOpen: boolean,
): { findings: Findings | null; isCurrent: boolean } {
  const settled = useSettled(wanted)
  const mayDo = useRights()
  const [state, setState] = useState<{ of: string; findings: Findings } | null>(null)
  useEffect(() => {
    if (!isOpen) return
    let isOver = false
    void loadFindAnything()
      .then(
        ({ findAnything }) => findAnything(settled, mayDo),
        (): Findings => ({ ok: false, problem: NOT_LOADED }),
      )
      .then((findings) => {
        if (!isOver) setState({ of: settled, findings })
      })
    return () => {
      isOver = true
    }
  }, [settled, isOpen])
  return { findings: state?.findings ?? null, isCurrent: state?.of === wanted }
}

/** Not while the user types into another field, except with Ctrl or Cmd. */
function useShortcut(focus: () => void): void {
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const isField = isInField(event)
      const isSlash = event.key === '/' && !event.ctrlKey && !event.metaKey && !isField
      const isK = event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey)
      if (!isSlash && !isK) return
      event.preventDefault()
      focus()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
}
