import type { ComponentChildren } from 'preact'
import type { Problem } from '../api.ts'
import type { Loading } from '../use-load.ts'

interface Issue {
  readonly path: string
  readonly message: string
}

/** The error message of the service, with all input errors. */
export function ProblemNotice({ problem }: { problem: Problem | null }) {
  if (problem === null) return null
  const issues = (problem.details['issues'] ?? []) as readonly Issue[]
  return (
    <div class="notice bad" role="alert">
      <p>{problem.message}</p>
      {issues.length > 0 && (
        <ul>
          {issues.map(({ path, message }) => (
            <li key={path + message}>
              {path !== '' && <code>{path}</code>} {message}
            </li>
          ))}
        </ul>
      )}
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
