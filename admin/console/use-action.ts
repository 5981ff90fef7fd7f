import { useState } from 'preact/hooks'
import type { ApiAnswer, Problem } from './api.ts'

export interface Action<A extends readonly unknown[]> {
  readonly isBusy: boolean
  readonly problem: Problem | null
  readonly run: (...args: A) => void
}

/** An action of the user: one at a time, with its error. */
export function useAction<T, A extends readonly unknown[]>(
  work: (...args: A) => Promise<ApiAnswer<T>>,
  onDone: (value: T, ...args: A) => void,
): Action<A> {
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<Problem | null>(null)
  const run = async (...args: A): Promise<void> => {
    if (isBusy) return
    setBusy(true)
    setProblem(null)
    const answer = await work(...args)
    setBusy(false)
    if (answer.ok) onDone(answer.value, ...args)
    else setProblem(answer.problem)
  }
  return { isBusy, problem, run: (...args) => void run(...args) }
}
