import { zonedText } from '../time-text.ts'
import { useTimeText } from '../use-time-text.ts'

interface TimeProps {
  readonly at: string | null
  readonly none?: string
  /** With the clock time and the zone beside the age. */
  readonly isFull?: boolean
  /** A longer age is shown as clock time. */
  readonly ageMax_ms?: number
}

/** The age of a time, or its clock time if that was chosen; the title has the local time with its zone, and UTC. */
export function Time({ at, none = 'never', ...shown }: TimeProps) {
  if (at === null) return <span class="muted">{none}</span>
  const at_ms = Date.parse(at)
  return Number.isNaN(at_ms) ? <span>{at}</span> : <TimeAt at_ms={at_ms} {...shown} />
}

function TimeAt({
  at_ms,
  isFull = false,
  ageMax_ms,
}: { at_ms: number } & Pick<TimeProps, 'isFull' | 'ageMax_ms'>) {
  const text = useTimeText(at_ms, ageMax_ms)
  const iso = new Date(at_ms).toISOString()
  const zoned = zonedText(at_ms)
  return (
    <time dateTime={iso} title={`${zoned} · ${iso.replace('T', ' ').replace('Z', '')} UTC`}>
      {isFull ? `${zoned} (${text})` : text}
    </time>
  )
}
