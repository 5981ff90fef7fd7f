import { useCallback, useEffect, useState } from 'preact/hooks'
import { ask, type Problem, withQuery } from './api.ts'
import type { Page, RefusalCount } from './api-types.ts'
import type { TimeRange } from './time-ranges.ts'
import { useRequestOrder } from './use-request-order.ts'

const EVERY_MS = 30_000

export interface CountedCalls {
  readonly from_ms: number
  readonly counts: readonly RefusalCount[]
}

/** Refused calls without a known organization in a range that ends now; a week takes a few requests. */
export function useUnknownCalls(range: TimeRange) {
  const [value, setValue] = useState<CountedCalls | null>(null)
  const [problem, setProblem] = useState<Problem | null>(null)
  const requestSent = useRequestOrder()
  const load = useCallback(
    async (isBackground: boolean, isWanted: () => boolean = () => true) => {
      const isNewest = requestSent()
      const from_ms = Math.ceil(Date.now() / 60_000) * 60_000 - range.ms
      const counts: RefusalCount[] = []
      let cursor: string | null = ''
      while (cursor !== null) {
        const query: Record<string, string> = { from: new Date(from_ms).toISOString(), cursor }
        const path = withQuery('/admin/activity/unknown-calls', query)
        const answer = await ask<Page<RefusalCount>>('GET', path, { isBackground })
        if (!isWanted()) return
        if (!answer.ok) {
          if (isNewest()) setProblem(answer.problem)
          return
        }
        counts.push(...answer.value.data)
        cursor = answer.value.next_cursor
      }
      if (!isNewest()) return
      setProblem(null)
      setValue({ from_ms, counts })
    },
    [range, requestSent],
  )
  useEffect(() => {
    let isWanted = true
    setValue(null)
    void load(false, () => isWanted)
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') void load(true, () => isWanted)
    }, EVERY_MS)
    return () => {
      isWanted = false
      clearInterval(timer)
    }
  }, [load])
  return { value, problem, reload: () => void load(false) }
}
