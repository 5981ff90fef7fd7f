/**
 * Every script of `core/lua` with the number of keys it takes, as listed in its header; null if the caller decides. A test
 * compares both with the files.
 */
export const SCRIPTS = {
  acknowledge: 1,
  'acknowledge-alert': 3,
  beacon: 4,
  beat: 5,
  'claim-deliveries': 15,
  'claim-notice': 1,
  'close-flood': 7,
  commit: null,
  'commit-when-full': null,
  'count-refusal': 2,
  'digest-activity': 10,
  'drop-delivery': 15,
  'fence-writer': 1,
  'find-entry': 1,
  'find-key': 1,
  'find-recent': 1,
  'find-session': 1,
  'finish-kill': 10,
  'hash-bytes': 1,
  'hold-call': 1,
  'hold-lease': 1,
  'keep-minted': 1,
  kill: 6,
  lock: 10,
  'justify-request': 1,
  'keep-schedules': 8,
  'live-edges': 2,
  'lost-edges': 4,
  'note-agent-uses': 9,
  'note-revocations': 2,
  'note-test-delivery': 15,
  'note-use': 2,
  'purge-organization': 15,
  'purge-webhook': 15,
  'raise-alert': 5,
  'read-agent': 2,
  'read-agent-keys': 3,
  'read-log': 1,
  'read-rows-after': 2,
  'read-session': 1,
  record: 10,
  'record-blocks': 6,
  'relay-event': 15,
  'renew-activity-index': 5,
  'replay-events': 15,
  'resolve-alert': 2,
  'retry-delivery': 15,
  'save-anomalies': 9,
  'search-activity': null,
  'settle-delivery': 15,
  'note-forwarded': 1,
  'take-approval': 17,
  'spend-state': 1,
  'swap-grant': 2,
  'take-rates': null,
  'tell-counts': 5,
  'trim-activity-index': 3,
  'trim-webhook-history': 15,
} as const satisfies Record<string, number | null>

export type ScriptName = keyof typeof SCRIPTS

type Strings<
  Count extends number,
  Rest extends readonly string[] = [],
> = Rest['length'] extends Count ? Rest : Strings<Count, readonly [...Rest, string]>

/** The keys of a script: too few or too many do not compile. */
export type KeysOf<Name extends ScriptName> = readonly string[] &
  ((typeof SCRIPTS)[Name] extends number ? Strings<(typeof SCRIPTS)[Name]> : unknown)
