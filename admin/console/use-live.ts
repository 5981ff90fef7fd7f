import { useEffect, useRef, useState } from 'preact/hooks'
import type { ActivityEntry } from './api-types.ts'
import { followActivity } from './follow-activity.ts'

/** Entries that the live view keeps; older ones are found by a search. */
export const LIVE_MAX = 1_000
/** How often new entries are shown: a list that moves with each of thousands could not be read. */
const SHOW_MS = 250

export interface Live {
  readonly entries: readonly ActivityEntry[]
  /** Entries that have come and are not shown yet; at most LIVE_MAX. */
  readonly waiting: number
  readonly isLive: boolean
  /** Shows those that wait. */
  readonly show: () => void
}

/** New entries of a stream, the newest first; while `isHeld`, they wait. Null follows nothing. */
export function useLive(path: string | null, isHeld: boolean): Live {
  const [entries, setEntries] = useState<readonly ActivityEntry[]>([])
  const [waiting, setWaiting] = useState(0)
  const [isLive, setLive] = useState(false)
  const held = useRef(isHeld)
  held.current = isHeld
  const come = useRef<ActivityEntry[]>([])
  const show = (): void => {
    const fresh = come.current.reverse()
    come.current = []
    setWaiting(0)
    if (fresh.length > 0) setEntries((before) => [...fresh, ...before].slice(0, LIVE_MAX))
  }
  useEffect(() => {
    setEntries([])
    setLive(false)
    come.current = []
    if (path === null) return
    const timer = setInterval(() => {
      if (held.current) setWaiting(come.current.length)
      else if (come.current.length > 0) show()
    }, SHOW_MS)
    const stop = followActivity(path, {
      onEntry: (entry) => {
        come.current.push(entry)
        if (come.current.length > LIVE_MAX) come.current.shift()
      },
      onState: setLive,
    })
    return () => {
      clearInterval(timer)
      stop()
    }
  }, [path])
  return { entries, waiting, isLive, show }
}
