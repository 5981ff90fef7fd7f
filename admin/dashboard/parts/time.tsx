const FORMAT = new Intl.DateTimeFormat(undefined, {
  dateStyle: 'medium',
  timeStyle: 'medium',
  hourCycle: 'h23',
})

/** Local time; the title shows UTC, as logs and the API do. */
export function Time({ at, none = 'never' }: { at: string | null; none?: string }) {
  if (at === null) return <span class="muted">{none}</span>
  const date = new Date(at)
  if (Number.isNaN(date.getTime())) return <span>{at}</span>
  return (
    <time dateTime={at} title={`${date.toISOString().replace('T', ' ').replace('Z', '')} UTC`}>
      {FORMAT.format(date)}
    </time>
  )
}
