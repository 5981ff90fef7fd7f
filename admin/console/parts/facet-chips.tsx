import type { Facets } from '../api-types.ts'
import { withQuery } from '../api.ts'
import { eventTitle } from '../event-title.ts'
import { linkTo } from '../place.ts'
import { reasonTitle } from '../reason-title.ts'
import { useLoad } from '../use-load.ts'
import { useNames } from '../use-names.ts'
import { viaTitle } from '../via-title.ts'

type Query = Readonly<Record<string, string | undefined>>
const EVERY_MS = 15_000
const AGENTS_SHOWN = 5
const REASONS_SHOWN = 8

/** Without a call through the forward proxy there is nothing to choose. */
const hasWays = (values: Facets['facets']['via']): boolean =>
  values.some(({ value }) => value === 'forward')

/** How many entries each event has, and the busiest agents and APIs; a chip filters the list by it, or no longer. */
export function FacetChips({ filter, query }: { filter: Query; query: Query }) {
  const { value } = useLoad<Facets>(withQuery('/admin/activity/facets', filter), EVERY_MS)
  const agentName = useNames('agents')
  const apiName = useNames('integrations')
  if (value === null) return <p class="chips" aria-busy="true" />
  const { facets } = value
  const rows = [
    ['Event', 'event', facets.event, eventTitle],
    ['Reason', 'reason', facets.reason.slice(0, REASONS_SHOWN), reasonTitle],
    ['Agent', 'agent_id', facets.agent_id.slice(0, AGENTS_SHOWN), agentName],
    ['Way', 'via', hasWays(facets.via) || filter['via'] !== undefined ? facets.via : [], viaTitle],
    ['API', 'integration_id', facets.integration_id.slice(0, AGENTS_SHOWN), apiName],
  ] as const
  return (
    <div class="chips">
      {rows.map(([title, member, values, nameOf]) => (
        <ul key={member} aria-label={title}>
          {values.flatMap(({ value: one, count }) =>
            one === null
              ? []
              : [
                  <li key={one}>
                    <a
                      href={linkTo(['activity'], {
                        ...query,
                        [member]: filter[member] === one ? undefined : one,
                      })}
                      aria-current={filter[member] === one ? 'true' : undefined}
                    >
                      {nameOf(one)} <span class="count">{count.toLocaleString()}</span>
                    </a>
                  </li>,
                ],
          )}
        </ul>
      ))}
      {!value.exact && <p class="muted">Counts are incomplete.</p>}
    </div>
  )
}
