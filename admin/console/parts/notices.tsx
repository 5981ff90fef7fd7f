import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Problem } from '../api.ts'
import { issuesOf } from '../issues-of.ts'
import type { Loading } from '../use-load.ts'

/** `/auth/token` as people read it. */
const memberOf = (path: string): string => path.slice(1).replaceAll('/', '.')

/**
 * The error message of the service, or all input errors. That of an action is scrolled to, since a form can be longer than its
 * window; what is read again by itself does not move the page.
 */
export function ProblemNotice({
  problem,
  isOfAction = true,
}: {
  problem: Problem | null
  isOfAction?: boolean
}) {
  const element = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (isOfAction) element.current?.scrollIntoView({ block: 'nearest' })
  }, [problem])
  if (problem === null) return null
  const issues = issuesOf(problem)
  return (
    <div class="notice bad" role="alert" ref={element}>
      <p>{issues.length > 0 ? 'Correct these errors:' : problem.message}</p>
      {issues.length > 0 && (
        <ul>
          {issues.map(({ path, message }) => (
            <li key={path + message}>
              {path !== '' && <code>{memberOf(path)}</code>} {message}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

/** The warnings about a record that was saved but will not work. */
export function SaveWarnings({
  of,
}: {
  of: { readonly name: string; readonly warnings?: readonly string[] | undefined } | null
}) {
  if (of?.warnings === undefined) return null
  return (
    <div class="notice warn" role="status">
      <p>
        <strong>{of.name}</strong> was saved with warnings:
      </p>
      <ul>
        {of.warnings.map((warning) => (
          <li key={warning}>{warning}</li>
        ))}
      </ul>
    </div>
  )
}

/** The service, or its store. */
const UNAVAILABLE: ReadonlySet<number> = new Set([0, 503])

/** The loaded data, a loading notice, or the error. */
export function Loaded<T>({
  from,
  page,
  children,
}: {
  from: Pick<Loading<T>, 'value' | 'problem' | 'reload'>
  /** The heading of a page that could not be loaded, where `children` have the heading. */
  page?: string
  children: (value: T) => ComponentChildren
}) {
  const { value, problem, reload } = from
  // The banner of every page says what is unavailable, and that what is shown is old.
  const isTold = value !== null && problem !== null && UNAVAILABLE.has(problem.status)
  return (
    <>
      {problem !== null && value === null && page !== undefined && <h1>{page}</h1>}
      {problem !== null && !isTold && (
        <>
          <ProblemNotice problem={problem} isOfAction={false} />
          <p>
            <button type="button" onClick={reload}>
              Try again
            </button>
          </p>
        </>
      )}
      {value === null && problem === null && (
        <p class="muted" role="status">
          Loading …
        </p>
      )}
      {value !== null && children(value)}
    </>
  )
}
