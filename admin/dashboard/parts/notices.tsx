import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Problem } from '../api.ts'
import { issuesOf } from '../issues-of.ts'
import type { Loading } from '../use-load.ts'

/** `/auth/token` as people read it. */
const memberOf = (path: string): string => path.slice(1).replaceAll('/', '.')

/** The error message of the service, or all input errors. It is scrolled to: a form can be longer than its window. */
export function ProblemNotice({ problem }: { problem: Problem | null }) {
  const element = useRef<HTMLDivElement>(null)
  useEffect(() => element.current?.scrollIntoView({ block: 'nearest' }), [problem])
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

/** The loaded data, a loading notice, or the error. */
export function Loaded<T>({
  from,
  children,
}: {
  from: Pick<Loading<T>, 'value' | 'problem' | 'reload'>
  children: (value: T) => ComponentChildren
}) {
  const { value, problem, reload } = from
  return (
    <>
      {problem !== null && (
        <>
          <ProblemNotice problem={problem} />
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
