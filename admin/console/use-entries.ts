import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { ask, type Problem, withQuery } from './api.ts'
import type { ActivityEntry, FoundEntries } from './api-types.ts'
import { connection } from './connection.ts'

/** Entries of one request; the first asks for what a screen shows, and the rest comes while it is read. */
const PAGE = 200
const FIRST_PAGE = 50
/** Entries that the page keeps, some 25 MB; older ones are found with a range of times. */
export const ENTRIES_MAX = 20_000
/** A slow search returns early with a cursor; it is continued by itself for this many requests, then on demand. */
const EMPTY_PAGES_MAX = 40

export interface Entries {
  readonly entries: readonly ActivityEntry[]
  /** `full`: the page keeps no more. */
  readonly state: 'searching' | 'more' | 'end' | 'full'
  readonly problem: Problem | null
  /** Down to when the search has looked. */
  readonly searched_to: string | null
  /** Hours of the archive that it could not look into. */
  readonly skipped_hours: readonly string[]
  readonly more: () => void
  readonly reload: () => void
}

interface Found extends Omit<Entries, 'more' | 'reload'> {
  readonly path: string
  readonly next: string | null
}

const begun = (path: string): Found => ({
  path,
  entries: [],
  next: null,
  state: 'searching',
  problem: null,
  searched_to: null,
  skipped_hours: [],
})

/** The entries that a path finds, the newest first, a page at a time. */
export function useEntries(path: string): Entries {
  const [found, setFound] = useState<Found>(begun(path))
  const wanted = useRef('')
  const search = useCallback(
    async (before: Found, isBackground: boolean, limit = PAGE) => {
      const mine = `${path} ${Math.random()}`
      wanted.current = mine
      let { entries, next, searched_to, skipped_hours } = before
      for (let pages = 0; ; pages++) {
        const page = withQuery(path, { limit: String(limit), cursor: next ?? '' })
        const answer = await ask<FoundEntries>('GET', page, { isBackground })
        if (wanted.current !== mine) return
        if (!answer.ok)
          return setFound({ ...before, entries, next, state: 'more', problem: answer.problem })
        ;({ searched_to } = answer.value)
        skipped_hours = [...new Set([...skipped_hours, ...answer.value.skipped_hours])]
        entries = [...entries, ...answer.value.data]
        next = answer.value.next_cursor
        const isFull = entries.length >= ENTRIES_MAX
        const state = next === null ? 'end' : isFull ? 'full' : 'more'
        const goesOn = state === 'more' && answer.value.data.length === 0 && pages < EMPTY_PAGES_MAX
        const reached = { searched_to, skipped_hours, state: goesOn ? 'searching' : state } as const
        setFound({ path, entries, next, problem: null, ...reached })
        if (!goesOn) return
      }
    },
    [path],
  )
  useEffect(() => {
    setFound(begun(path))
    void search(begun(path), false, FIRST_PAGE)
    return () => {
      wanted.current = ''
    }
  }, [search])
  useEffect(
    () => connection.listen((reach) => void (reach === 'reached' && search(begun(path), true))),
    [search],
  )
  const current = found.path === path ? found : begun(path)
  const more = useCallback(() => {
    if (current.state !== 'more') return
    setFound({ ...current, state: 'searching' })
    void search(current, false)
  }, [current, search])
  return {
    entries: current.entries,
    state: current.state,
    problem: current.problem,
    searched_to: current.searched_to,
    skipped_hours: current.skipped_hours,
    more,
    reload: () => void search(begun(path), false),
  }
}
