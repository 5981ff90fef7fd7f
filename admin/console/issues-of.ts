import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Problem } from './api.ts'

/** An input error of the service: the JSON pointer of a member, and what is wrong with it. */
export interface Issue {
  readonly path: string
  readonly message: string
}

const NONE: readonly Issue[] = []

export const issuesOf = (problem: Problem | null): readonly Issue[] =>
  (problem?.details['issues'] as readonly Issue[] | undefined) ?? NONE

/** The input errors of the form around a field, for the fields to show their own. */
export const FormIssues = createContext(NONE)

/** The errors of one member, and of the entries of a list, which are counted from 1 as lines are. */
export function useIssues(member: string | undefined): readonly string[] {
  const issues = useContext(FormIssues)
  if (member === undefined) return []
  return issues.flatMap(({ path, message }) => {
    if (path === member) return [message]
    const rest = path.startsWith(`${member}/`) ? path.slice(member.length + 1) : ''
    return /^\d+$/.test(rest) ? [`Line ${Number(rest) + 1} ${message}`] : []
  })
}
