import type { ObservedCall } from '../core/anomaly/observed-call.ts'
import { type Chance, HOUR_MS, MINUTE_MS, type TimedCall } from './anomaly-traffic.ts'

export interface Attack {
  readonly name: string
  readonly lasts_ms: number
  /** Adds to the calls of a minute of the agent, whose usual rate is given. */
  readonly add: (at_ms: number, rpm: number, usual: ObservedCall, chance: Chance) => TimedCall[]
}

const STRANGER = '203.0.113.66'

function spread(
  count: number,
  at_ms: number,
  chance: Chance,
  make: (n: number) => ObservedCall,
): TimedCall[] {
  return Array.from({ length: count }, (_, n) => ({
    at_ms: at_ms + Math.floor(chance.next() * MINUTE_MS),
    call: make(n),
  }))
}

/** A path that the agent never used. */
const unknownPath = (chance: Chance): string =>
  `/v1/${Array.from({ length: 9 }, () => 'abcdefghij'[chance.whole(0, 9)]).join('')}`

export const ATTACKS: readonly Attack[] = [
  {
    name: 'burst, 10 times the rate, at least 10 rpm',
    lasts_ms: 10 * MINUTE_MS,
    add: (at_ms, rpm, usual, chance) =>
      spread(chance.poisson(Math.max(9 * rpm, 10)), at_ms, chance, () => usual),
  },
  {
    name: 'credential stuffing against scopes, 1/s',
    lasts_ms: 10 * MINUTE_MS,
    add: (at_ms, _rpm, usual, chance) =>
      spread(60, at_ms, chance, () => ({
        ...usual,
        scope_id: null,
        outcome: 'denied',
        endpoint: unknownPath(chance),
      })),
  },
  {
    name: 'low and slow: a denied call every 10 min',
    lasts_ms: 12 * HOUR_MS,
    add: (at_ms, _rpm, usual, chance) =>
      spread(chance.happens(0.1) ? 1 : 0, at_ms, chance, () => ({
        ...usual,
        scope_id: null,
        outcome: 'denied',
        endpoint: unknownPath(chance),
      })),
  },
  {
    name: 'exploration: 2 new endpoints a minute',
    lasts_ms: 15 * MINUTE_MS,
    add: (at_ms, _rpm, usual, chance) =>
      spread(2, at_ms, chance, () => ({ ...usual, endpoint: unknownPath(chance) })),
  },
  {
    name: 'probing: failing calls at the usual rate',
    lasts_ms: 15 * MINUTE_MS,
    add: (at_ms, rpm, usual, chance) =>
      spread(chance.poisson(Math.max(rpm, 4)), at_ms, chance, () => ({
        ...usual,
        outcome: 'failed',
      })),
  },
  {
    name: 'extraction: 3 payloads a minute, 200 times the size',
    lasts_ms: 15 * MINUTE_MS,
    add: (at_ms, _rpm, usual, chance) =>
      spread(3, at_ms, chance, () => ({ ...usual, bytes_out: usual.bytes_out * 200 })),
  },
  {
    name: 'stolen key: new address, 3 times the rate, 3 new endpoints',
    lasts_ms: 30 * MINUTE_MS,
    add: (at_ms, rpm, usual, chance) =>
      spread(chance.poisson(Math.max(2 * rpm, 2)), at_ms, chance, (n) => ({
        ...usual,
        source_ip: STRANGER,
        endpoint: n === 0 ? `/v1/secrets/${'abc'[chance.whole(0, 2)]}` : usual.endpoint,
      })),
  },
  {
    name: 'low and slow: twice the rate from a new address',
    lasts_ms: 8 * HOUR_MS,
    add: (at_ms, rpm, usual, chance) =>
      spread(chance.poisson(Math.max(rpm, 0.5)), at_ms, chance, () => ({
        ...usual,
        source_ip: STRANGER,
      })),
  },
]
