import { withQuery } from '../api.ts'
import type { ActivityEntry, Page } from '../api-types.ts'
import { eventTitle } from '../event-title.ts'
import { linkTo } from '../place.ts'
import { spanText, zonedText } from '../time-text.ts'
import { useLoad } from '../use-load.ts'

const SHOWN = 5
/** The log answers newest first, so those just after a time are at the end of a page. */
const AFTER_MS = 60_000
const AFTER_READ = 50

/** What the same agent did just before and after an entry. */
export function Neighbours({
  entry: { id, agent_id, timestamp },
  query,
}: {
  entry: ActivityEntry
  query: Readonly<Record<string, string>>
}) {
  const agent = agent_id ?? ''
  const until = new Date(Date.parse(timestamp) + AFTER_MS).toISOString()
  const before = useLoad<Page<ActivityEntry>>(
    withQuery('/admin/activity', { agent_id: agent, to: timestamp, limit: String(SHOWN) }),
  )
  const after = useLoad<Page<ActivityEntry>>(
    withQuery('/admin/activity', {
      agent_id: agent,
      from: timestamp,
      to: until,
      limit: String(AFTER_READ),
    }),
  )
  if (before.value === null || after.value === null) return null
  const others = after.value.data.filter((one) => one.id !== id).slice(-SHOWN)
  const shown = [
    ...others,
    ...after.value.data.filter((one) => one.id === id),
    ...before.value.data,
  ]
  return (
    <section>
      <h3>Same agent, before and after</h3>
      <ul class="plain neighbours">
        {shown.map((one) => (
          <li key={one.id}>
            <a
              href={linkTo(['activity', one.id], query)}
              aria-current={one.id === id ? 'true' : undefined}
            >
              <Offset of={one.timestamp} from={timestamp} />
            </a>{' '}
            {eventTitle(one.event)}{' '}
            {one.method !== null && (
              <code>
                {one.method} {one.endpoint}
              </code>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}

/** How long before or after another entry. */
function Offset({ of, from }: { of: string; from: string }) {
  const seconds = (Date.parse(of) - Date.parse(from)) / 1000
  const span = seconds > -1 && seconds < 1 ? '0 s' : spanText(Math.abs(seconds))
  return (
    <time dateTime={of} title={zonedText(Date.parse(of))}>
      {of === from ? 'This time' : `${span} ${seconds < 0 ? 'before' : 'after'}`}
    </time>
  )
}
