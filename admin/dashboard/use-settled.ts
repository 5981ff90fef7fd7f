import { useEffect, useState } from 'preact/hooks'

/** Shorter than the pause in which one looks whether something was found, longer than that between two letters. */
const SETTLED_MS = 200

/** A text once nobody has typed for a moment: a search of 100,000 agents for each letter would be the service's load. */
export function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), SETTLED_MS)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}
