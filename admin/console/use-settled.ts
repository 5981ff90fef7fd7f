import { useEffect, useState } from 'preact/hooks'

/** Longer than the pause between two keystrokes, shorter than the pause before looking at results. */
const SETTLED_MS = 200

/** A debounced text: a search of 100,000 agents for each keystroke would be expensive. */
export function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), SETTLED_MS)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}
