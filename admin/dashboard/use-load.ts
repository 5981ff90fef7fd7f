import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { ask, type Problem, withQuery } from './api.ts'
import type { Page } from './api-types.ts'
import { connection } from './connection.ts'

export interface Loading<T> {
  /** The last response; it stays during a reload. */
  readonly value: T | null
  readonly etag: string | null
  readonly problem: Problem | null
  readonly reload: () => void
}

type State<T> = Pick<Loading<T>, 'value' | 'etag' | 'problem'>
const NOTHING = { value: null, etag: null, problem: null }

/** Reads a path of the API, and again when it changes, when the service is available again and, optionally, at an interval. */
export function useLoad<T>(path: string | null, every_ms: number | null = null): Loading<T> {
  const [state, setState] = useState<State<T> & { readonly path: string | null }>({
    ...NOTHING,
    path,
  })
  const wanted = useRef(path)
  wanted.current = path
  const load = useCallback(
    async (isBackground: boolean) => {
      if (path === null) return
      const answer = await ask<T>('GET', path, { isBackground })
      // The response belongs to an earlier request.
      if (wanted.current !== path) return
      setState((before) =>
        answer.ok
          ? { value: answer.value, etag: answer.etag, problem: null, path }
          : { ...(before.path === path ? before : NOTHING), problem: answer.problem, path },
      )
    },
    [path],
  )
  useEffect(() => void load(false), [load])
  useEffect(() => connection.listen((reach) => void (reach === 'reached' && load(true))), [load])
  useEffect(() => {
    if (every_ms === null) return
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') void load(true)
    }, every_ms)
    return () => clearInterval(timer)
  }, [load, every_ms])
  const reload = useCallback(() => void load(false), [load])
  const { value, etag, problem } = state.path === path ? state : NOTHING
  return { value: value as T | null, etag, problem, reload }
}

export interface Paged<T> extends Omit<Loading<readonly T[]>, 'etag'> {
  /** Null when the last page was loaded. */
  readonly more: (() => void) | null
}

/** A paged list of the API. */
export function usePages<T>(path: string): Paged<T> {
  const first = useLoad<Page<T>>(path)
  const [rest, setRest] = useState<{
    of: Page<T> | null
    items: readonly T[]
    next: string | null
  }>({
    of: null,
    items: [],
    next: null,
  })
  const [problem, setProblem] = useState<Problem | null>(null)
  const isCurrent = rest.of === first.value
  const next = isCurrent ? rest.next : (first.value?.next_cursor ?? null)
  const items = isCurrent ? rest.items : []
  const more = async (): Promise<void> => {
    const of = first.value
    const answer = await ask<Page<T>>('GET', withQuery(path, { cursor: next ?? '' }))
    setProblem(answer.ok ? null : answer.problem)
    if (answer.ok)
      setRest({ of, items: [...items, ...answer.value.data], next: answer.value.next_cursor })
  }
  return {
    value: first.value === null ? null : [...first.value.data, ...items],
    problem: first.problem ?? problem,
    reload: first.reload,
    more: next === null || first.value === null ? null : () => void more(),
  }
}
