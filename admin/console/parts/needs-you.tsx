import type { ComponentChildren } from 'preact'
import type { AlertCause, AlertCauses } from '../api-types.ts'
import { countOf } from '../count-of.ts'
import { lastText } from '../last-text.ts'
import { fewNeeds, type Need } from '../needs-of.ts'
import { linkTo } from '../place.ts'
import { reasonTitle } from '../reason-title.ts'
import { useAcknowledge } from '../use-acknowledge.tsx'
import { HOUR_MS, useNeeds } from '../use-needs.ts'
import { Tag } from './bits.tsx'
import { LockLines } from './lock-lines.tsx'
import { useFirst } from './load-more.tsx'
import { ProblemNotice } from './notices.tsx'
import { Sparkline } from './sparkline.tsx'
import { isOld, StaleNote } from './stale-note.tsx'
import { StillCalling } from './still-calling.tsx'
import { Table } from './table.tsx'
import { Time } from './time.tsx'

/** Few enough that a page ends soon. */
const ROWS = 25
const LOCKS_SHOWN = 10

/** What an operator has to look at, the gateway itself first, each with its action. Beyond `limit` rows they are counted. */
export function NeedsYou({
  limit = null,
  concern,
}: {
  limit?: number | null
  concern?: string | undefined
}) {
  const { needs: all, totals, reads, counts, reload } = useNeeds()
  const acknowledge = useAcknowledge(reload)
  const old = reads.find(isOld)
  const needs = (all ?? []).filter((need) => concern === undefined || need.concern === concern)
  const { first, more } = useFirst(needs, ROWS)
  const shown = limit === null || totals === null ? first : fewNeeds(needs, totals, limit)
  return (
    <section class="needs">
      <div class="titled">
        <h2>Needs you</h2>
        <StaleNote of={old ?? counts} what={old === undefined ? 'counts of refusals' : ''} />
      </div>
      <ProblemNotice problem={acknowledge.problem} />
      {all !== null && (
        <Table
          caption="What needs you"
          rows={shown}
          keyOf={({ key }) => key}
          empty={
            old === undefined
              ? 'Nothing: no open alert, no failing webhook, no lock, every edge holds its lease.'
              : 'Unknown. When it was last read, there was nothing.'
          }
          columns={[
            { head: 'Severity', cell: ({ severity }) => <Tag text={severity} /> },
            { head: 'What', cell: (need) => <What need={need} onLifted={reload} /> },
            { head: 'Last 24 h', cell: (need) => <Trend need={need} /> },
            {
              head: 'Last',
              cell: (need) => need.type === 'cause' && <Time at={need.cause.last_at} />,
            },
            {
              head: 'Action',
              cell: (need) => (
                <div class="buttons">
                  <Actions need={need} button={acknowledge.button} />
                </div>
              ),
            },
          ]}
        />
      )}
      {limit === null && more}
      {all !== null && totals !== null && needs.length > 0 && (
        <p class="muted">
          {totalsText(all, totals)} {limit !== null && <a href={linkTo(['alerts'])}>View all</a>}
        </p>
      )}
    </section>
  )
}

/** Totals of what is shown and what is not, by kind. */
function totalsText(needs: readonly Need[], totals: AlertCauses['totals']): string {
  const states = needs.flatMap((need) => {
    if (need.type === 'edges') return [countOf(need.silent, 'edge')]
    if (need.type === 'webhooks') return [countOf(need.failing, 'failing webhook')]
    return need.type === 'locks' ? [countOf(need.locks.length, 'lock')] : []
  })
  const unusual = needs.filter(({ type }) => type === 'refusals').length
  const alertsOf = ({ kinds }: AlertCauses['totals']['gateway']): string[] =>
    Object.entries(kinds).map(
      ([kind, count]) => `${kind.replaceAll('_', ' ')} ${count.toLocaleString()}`,
    )
  const listed = (name: string, parts: readonly string[]): string =>
    `${name}: ${parts.length === 0 ? 'nothing' : parts.join(', ')}.`
  return [
    listed('The gateway', [...states, ...alertsOf(totals.gateway)]),
    listed('Agents', [
      ...(unusual > 0 ? [countOf(unusual, 'unusual refusal')] : []),
      ...alertsOf(totals.agents),
    ]),
    listed('Handled', alertsOf(totals.handled)),
  ].join(' ')
}

function What({ need, onLifted }: { need: Need; onLifted: () => void }): ComponentChildren {
  switch (need.type) {
    case 'edges':
      return `${countOf(need.silent, 'edge has', 'edges have')} lost the lease without shutting down, and ${need.silent === 1 ? 'refuses' : 'refuse'} every call.`
    case 'webhooks': {
      const are = `${countOf(need.failing, 'webhook is', 'webhooks are')} failing: events are not delivered.`
      return `${are} ${namesOf(need.webhooks.map(({ name }) => name))}`
    }
    case 'locks':
      return (
        <>
          {countOf(need.locks.length, 'lock is', 'locks are')} in force:
          <LockLines locks={need.locks} limit={LOCKS_SHOWN} onLifted={onLifted} />
        </>
      )
    case 'requests':
      return `${countOf(need.asking.length, 'agent asks', 'agents ask')} for approvals: ${namesOf(need.asking)}.`
    case 'refusals': {
      const { count, reason, usual } = need.unusual
      return `Out of the ordinary: ${countOf(count, 'call')} refused in an hour (${reasonTitle(reason)}), usually ${usual.toLocaleString()}.`
    }
    case 'cause':
      return <Cause cause={need.cause} />
    case 'handled': {
      const { occurrences, causes } = need.totals
      return `Refused by the gateway: ${countOf(occurrences, 'prompt injection')} of ${countOf(causes, 'kind')}.`
    }
  }
}

const NAMES_MAX = 3

const namesOf = (names: readonly string[]): string =>
  names.length <= NAMES_MAX
    ? names.join(', ')
    : `${names.slice(0, NAMES_MAX).join(', ')} and ${names.length - NAMES_MAX} more`

function Cause({ cause: { title, alerts, agents, count, kind, latest } }: { cause: AlertCause }) {
  const agent_id = lastText(latest.last, 'agent_id')
  return (
    <>
      {alerts === 1 && count > 1 ? `${title} (${count.toLocaleString()} times)` : title}
      {alerts === 1 && kind === 'agent_killed' && agent_id !== null && (
        <>
          {' '}
          Reason: {lastText(latest.last, 'reason') ?? 'unknown'}.{' '}
          <StillCalling agent_id={agent_id} />
        </>
      )}
      {alerts > 1 && (
        <div class="muted">
          {countOf(alerts, 'alert')}
          {agents > 1 && `, ${countOf(agents, 'agent')}`}, {countOf(count, 'time')}
        </div>
      )}
    </>
  )
}

const Trend = ({ need }: { need: Need }) =>
  need.type === 'cause' && need.cause.count > 1 ? (
    <>
      <Sparkline counts={need.cause.hours} tone="refused" />
      <span class="unseen">
        {need.cause.hours.reduce((sum, count) => sum + count, 0).toLocaleString()}
      </span>
    </>
  ) : null

/** The links lead to where it can be judged: the kills of an agent, the call, or the agent. */
function Actions({
  need,
  button,
}: {
  need: Need
  button: ReturnType<typeof useAcknowledge>['button']
}): ComponentChildren {
  switch (need.type) {
    case 'edges':
      return need.silent === 1
        ? 'Check its process and its connection to the store.'
        : 'Check their processes and their connection to the store.'
    case 'webhooks': {
      const [first, ...others] = need.webhooks
      const place = others.length === 0 && first ? [first.webhook_id] : []
      return <a href={linkTo(['webhooks', ...place])}>Repair and replay</a>
    }
    case 'locks':
      return <a href={linkTo(['kills'])}>All locks</a>
    case 'requests':
      return <a href={linkTo(['requests'])}>Decide</a>
    case 'refusals': {
      const from = new Date(Date.now() - 2 * HOUR_MS).toISOString()
      return <a href={linkTo(['activity'], { reason: need.unusual.reason, from })}>Show calls</a>
    }
    case 'handled':
      return <a href={linkTo(['alerts'], { concern: 'handled' })}>Show what was refused</a>
    case 'cause':
      return <CauseActions cause={need.cause} button={button} />
  }
}

function CauseActions({
  cause: { cause, alerts, kind, latest, alert_ids },
  button,
}: {
  cause: AlertCause
  button: ReturnType<typeof useAcknowledge>['button']
}) {
  const agent_id = lastText(latest.last, 'agent_id')
  const activity_id = lastText(latest.last, 'activity_id')
  return (
    <>
      {alerts > 1 && <a href={linkTo(['alerts'], { cause })}>Show {countOf(alerts, 'alert')}</a>}
      {alerts === 1 && kind === 'agent_killed' && agent_id !== null && (
        <a href={linkTo(['kills'], { agent_id })}>View receipt</a>
      )}
      {alerts === 1 && kind !== 'agent_killed' && activity_id !== null && (
        <a href={linkTo(['activity', activity_id])}>
          {kind === 'changes_lost' ? 'View changes' : 'View call'}
        </a>
      )}
      {alerts === 1 && agent_id !== null && <a href={linkTo(['agents', agent_id])}>Open agent</a>}
      {button(alert_ids, kind)}
    </>
  )
}
