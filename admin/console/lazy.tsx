import type { FunctionComponent } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Problem } from './api.ts'
import { Loaded } from './parts/notices.tsx'

export const NOT_LOADED: Problem = {
  status: 0,
  error: 'unreachable',
  message: 'This part of the console could not be loaded. The gateway may have been updated.',
  details: {},
}

/**
 * A component of a file that is loaded when it is first shown.
 * @param load an `import()`. A browser may keep its failure for as long as the page lives, so that another try loads the page again
 */
export function lazy<M, K extends keyof M>(load: () => Promise<M>, name: K): M[K] {
  let part: M[K] | null = null
  function Lazy(props: object) {
    const [value, setValue] = useState(() => part)
    const [problem, setProblem] = useState<Problem | null>(null)
    useEffect(() => {
      if (value === null)
        load().then(
          (loaded) => {
            part = loaded[name]
            setValue(() => part)
          },
          () => setProblem(NOT_LOADED),
        )
    }, [])
    return (
      <Loaded from={{ value, problem, reload: () => location.reload() }}>
        {(of) => {
          const Part = of as FunctionComponent<object>
          return <Part {...props} />
        }}
      </Loaded>
    )
  }
  return Lazy as M[K]
}
