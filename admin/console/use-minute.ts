import { useEffect, useState } from 'preact/hooks'

const MINUTE_MS = 60_000
const EVERY_MS = 5_000

/** The end of the current minute in ms: ranges that end now ask for the same until it has passed. */
export function useMinute(): number {
  const [minute, setMinute] = useState(() => Math.ceil(Date.now() / MINUTE_MS))
  useEffect(() => {
    const timer = setInterval(() => setMinute(Math.ceil(Date.now() / MINUTE_MS)), EVERY_MS)
    return () => clearInterval(timer)
  }, [])
  return minute * MINUTE_MS
}
