import type { Alert, AlertCause, AlertCauses, Lock, Webhook } from './api-types.ts'
import type { Unusual } from './unusual-refusals.ts'

type Of =
  | { readonly type: 'edges'; readonly silent: number }
  | { readonly type: 'webhooks'; readonly failing: number; readonly webhooks: readonly Webhook[] }
  | { readonly type: 'locks'; readonly locks: readonly Lock[] }
  | { readonly type: 'requests'; readonly asking: readonly string[] }
  | { readonly type: 'cause'; readonly cause: AlertCause }
  | { readonly type: 'refusals'; readonly unusual: Unusual }
  | { readonly type: 'handled'; readonly totals: AlertCauses['totals']['handled'] }

/** What an operator has to look at. */
export type Need = Of & {
  readonly key: string
  readonly concern: Alert['concern']
  readonly severity: Alert['severity'] | 'handled'
}

export interface NeedParts {
  readonly silent: number
  readonly failing: number
  /** Those that fail, as far as they are known. */
  readonly webhooks: readonly Webhook[]
  readonly locks: readonly Lock[]
  /** Names of agents whose calls wait for a decision. */
  readonly asking: readonly string[]
  readonly causes: AlertCauses
  readonly unusual: readonly Unusual[]
}

/**
 * All that needs an operator: first the state of the gateway itself, then what agents did, then what was handled. Nothing that an agent
 * sends comes before the state of the gateway.
 */
export function needsOf({
  silent,
  failing,
  webhooks,
  locks,
  asking,
  causes,
  unusual,
}: NeedParts): readonly Need[] {
  const of = (concern: Need['concern']): Need[] =>
    causes.data
      .filter((cause) => cause.concern === concern && !isShown(cause, failing, locks))
      .map((cause) => ({
        type: 'cause',
        key: cause.cause,
        concern,
        severity: concern === 'handled' ? concern : cause.severity,
        cause,
      }))
  const state = { concern: 'gateway' } as const
  const gateway: Need[] = [
    ...(silent > 0
      ? [{ ...state, type: 'edges', key: 'edges', severity: 'critical', silent } as const]
      : []),
    ...(failing > 0
      ? [
          {
            ...state,
            type: 'webhooks',
            key: 'webhooks',
            severity: 'high',
            failing,
            webhooks,
          } as const,
        ]
      : []),
    ...of('gateway'),
    ...(locks.length > 0
      ? [{ ...state, type: 'locks', key: 'locks', severity: severityOf(locks), locks } as const]
      : []),
  ]
  return [
    ...gateway.toSorted((a, b) => RANK[a.severity] - RANK[b.severity]),
    ...(asking.length > 0
      ? [
          {
            type: 'requests',
            key: 'requests',
            concern: 'agents',
            severity: 'medium',
            asking,
          } as const,
        ]
      : []),
    ...unusual.map(
      (one) =>
        ({
          type: 'refusals',
          key: `refusals ${one.reason}`,
          concern: 'agents',
          severity: 'high',
          unusual: one,
        }) as const,
    ),
    ...of('agents'),
    ...of('handled'),
  ]
}

/** At most so many rows: what was handled is one of them, and is not cut off. */
export function fewNeeds(
  needs: readonly Need[],
  { handled: totals }: AlertCauses['totals'],
  limit: number,
): readonly Need[] {
  const others = needs.filter(({ concern }) => concern !== 'handled')
  const row = {
    concern: 'handled',
    severity: 'handled',
    key: 'handled',
    type: 'handled',
    totals,
  } as const
  const handled = totals.alerts > 0 ? [row] : []
  return [...others.slice(0, limit - handled.length), ...handled]
}

const RANK: Readonly<Record<Need['severity'], number>> = {
  critical: 0,
  high: 1,
  medium: 2,
  handled: 3,
}

const severityOf = (locks: readonly Lock[]): Alert['severity'] =>
  locks.some(({ target }) => target.everything === true) ? 'critical' : 'medium'

/** The state itself has a row, which stays when the alert is acknowledged. */
const isShown = ({ kind, alerts }: AlertCause, failing: number, locks: readonly Lock[]): boolean =>
  (kind === 'webhook_failing' && failing >= alerts) || (kind === 'locked' && locks.length > 0)
