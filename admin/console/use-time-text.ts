import { useEffect, useState } from 'preact/hooks'
import { timeStyle } from './time-style.ts'
import { timeText } from './time-text.ts'

const EVERY_MS = 1_000

/** All times of the page share one timer; only those whose text changes are drawn again. */
const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined

export function tellTimes(): void {
  if (document.visibilityState === 'visible') for (const listener of listeners) listener()
}

function listen(listener: () => void): () => void {
  listeners.add(listener)
  timer ??= setInterval(tellTimes, EVERY_MS)
  return () => void listeners.delete(listener)
}

/** The text of a time, which goes on with the clock while the page is open. */
export function useTimeText(at_ms: number, ageMax_ms?: number): string {
  const current = (): string => timeText(at_ms, Date.now(), timeStyle.value, ageMax_ms)
  const [, setText] = useState(current)
  useEffect(() => listen(() => setText(current())), [at_ms])
  return current()
}
