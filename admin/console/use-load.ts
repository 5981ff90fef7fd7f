import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { type ApiAnswer, ask, type Problem, withQuery } from './api.ts'
import type { Page } from './api-types.ts'
import { connection } from './connection.ts'
import { useRequestOrder } from './use-request-order.ts'

export interface Loading<T> {
  /** The last response; it stays during a reload. */
  readonly value: T | null
  readonly etag: string | null
  /** When it came, by the clock of the browser. */
  readonly answered_ms: number
  readonly problem: Problem | null
  readonly reload: () => void
}

type State<T> = Pick<Loading<T>, 'value' | 'etag' | 'answered_ms' | 'problem'>
const NOTHING = { value: null, etag: null, answered_ms: 0, problem: null }

/** First requests of the parts that are drawn together: those that ask for the same share the answer. */
const asked = new Map<string, Promise<ApiAnswer<unknown>>>()

function askOnce<T>(path: string): Promise<ApiAnswer<T>> {
  const answer = asked.get(path) ?? ask('GET', path)
  asked.set(path, answer)
  // What is drawn later may come after a change.
  queueMicrotask(() => asked.delete(path))
  return answer as Promise<ApiAnswer<T>>
}

/**
 * Reads a path of the API, and again when it changes, when the service is available again and, optionally, at an interval.
 * @param about what the path is about: its last value stays while only the path changes, as with a range that ends now
 */
export function useLoad<T>(
  path: string | null,
  every_ms: number | null = null,
  about: string | null = path,
): Loading<T> {
  const [state, setState] = useState<State<T> & { readonly about: string | null }>({
    ...NOTHING,
    about,
  })
  const wanted = useRef(path)
  wanted.current = path
  const requestSent = useRequestOrder()
  const load = useCallback(
    async (isBackground: boolean, isFirst = false) => {
      if (path === null) return
      const isNewest = requestSent()
      // What is read again must have been asked for after the change that is the reason.
      const answer = isFirst ? await askOnce<T>(path) : await ask<T>('GET', path, { isBackground })
      // The response belongs to an earlier request than what is shown, or than what is wanted.
      if (wanted.current !== path || !isNewest()) return
      setState((before) =>
        answer.ok
          ? {
              value: answer.value,
              etag: answer.etag,
              answered_ms: Date.now(),
              problem: null,
              about,
            }
          : { ...(before.about === about ? before : NOTHING), problem: answer.problem, about },
      )
    },
    [path, about, requestSent],
  )
  useEffect(() => void load(false, true), [load])
  useEffect(() => connection.listen((reach) => void (reach === 'reached' && load(true))), [load])
  useEffect(() => {
    if (every_ms === null) return
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') void load(true)
    }, every_ms)
    return () => clearInterval(timer)
  }, [load, every_ms])
  const reload = useCallback(() => void load(false), [load])
  const { value, etag, answered_ms, problem } = state.about === about ? state : NOTHING
  return { value: value as T | null, etag, answered_ms, problem, reload }
}

export interface Paged<T> extends Omit<Loading<readonly T[]>, 'etag' | 'answered_ms'> {
  /** Null when the last page was loaded. */
  readonly more: (() => void) | null
  /** Ids of what belongs to the list, and a newer version has stored. */
  readonly unreadable: readonly string[]
}

/** How often a list is read again. */
const PAGES_EVERY_MS = 15_000

/** A paged list of the API. */
export function usePages<T>(path: string, every_ms: number = PAGES_EVERY_MS): Paged<T> {
  const [rest, setRest] = useState<{
    of: Page<T> | null
    items: readonly T[]
    unreadable: readonly string[]
    next: string | null
  }>({
    of: null,
    items: [],
    unreadable: [],
    next: null,
  })
  const [problem, setProblem] = useState<Problem | null>(null)
  // Longer lists are not cut under the eyes of their reader.
  const first = useLoad<Page<T>>(path, rest.items.length === 0 ? every_ms : null)
  const isCurrent = rest.of === first.value
  const next = isCurrent ? rest.next : (first.value?.next_cursor ?? null)
  const items = isCurrent ? rest.items : []
  const unreadable = isCurrent ? rest.unreadable : []
  const more = async (): Promise<void> => {
    const of = first.value
    const answer = await ask<Page<T>>('GET', withQuery(path, { cursor: next ?? '' }))
    setProblem(answer.ok ? null : answer.problem)
    if (answer.ok)
      setRest({
        of,
        items: [...items, ...answer.value.data],
        unreadable: [...unreadable, ...(answer.value.unreadable ?? [])],
        next: answer.value.next_cursor,
      })
  }
  return {
    value: first.value === null ? null : [...first.value.data, ...items],
    problem: first.problem ?? problem,
    reload: first.reload,
    unreadable: [...(first.value?.unreadable ?? []), ...unreadable],
    more: next === null || first.value === null ? null : () => void more(),
  }
}
