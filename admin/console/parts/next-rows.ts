/** Rows of a list, from `begin` to before `end`. */
export interface Rows {
  readonly begin: number
  readonly end: number
}

/**
 * The rows to draw next, on the way from those that are drawn to those that are wanted: those that stay, and at most
 * `count` that are new. Where none stays, they begin with the first that is seen. The same object if nothing changes.
 */
export function nextRows(drawn: Rows, wanted: Rows, seen: number, count: number): Rows {
  let begin = Math.max(drawn.begin, wanted.begin)
  let end = Math.min(drawn.end, wanted.end)
  if (begin >= end) {
    begin = Math.min(Math.max(seen, wanted.begin), wanted.end)
    end = begin
  }
  const below = Math.min(count, wanted.end - end)
  const above = Math.min(count - below, begin - wanted.begin)
  begin -= above
  end += below
  return begin === drawn.begin && end === drawn.end ? drawn : { begin, end }
}
