import { useState } from 'preact/hooks'

/** Shows the next rows of a list, if there are any; `left` is how many, where that is known. */
export const LoadMore = ({ of, left }: { of: (() => void) | null; left?: number }) =>
  of !== null && (
    <p>
      <button type="button" onClick={of}>
        Load more{left !== undefined && ` (${left.toLocaleString()})`}
      </button>
    </p>
  )

/** The first rows of a list that is read as a whole, and the button for the next. */
export function useFirst<T>(rows: readonly T[], step: number) {
  const [count, setCount] = useState(step)
  const left = rows.length - count
  const more = <LoadMore of={left > 0 ? () => setCount(count + step) : null} left={left} />
  return { first: rows.slice(0, count), more }
}
