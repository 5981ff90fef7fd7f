/** What `admin_action` entries call the kinds of records and what is done to them: `scope.update`. */
const RECORDS = {
  agent: 'the agent',
  connection: 'the connection',
  integration: 'the integration',
  key: 'the key',
  lock: 'the lock',
  organization: 'the organization',
  scope: 'the scope',
  token: 'the admin token',
  webhook: 'the webhook',
} as const
const CHANGES = {
  create: 'created',
  update: 'changed',
  delete: 'deleted',
  revoke: 'revoked',
  rotate_secret: 'replaced the secret of',
} as const
/** All other actions, as the words between who and what. */
const OTHERS = {
  'access_request.approve': 'approved the request',
  'access_request.cancel': 'withdrew the request',
  'access_request.deny': 'denied the request',
  'activity.export': 'exported the activity log of',
  'agent.kill': 'killed the agent',
  'agent.kill_lost': 'found that the store has lost the kill of the agent',
  'agent.kill_restored': 'restored the kill of the agent',
  'agent.reactivate': 'reactivated the agent',
  'agent.reactivation_restored': 'restored the reactivation of the agent',
  'alert.acknowledge': 'acknowledged the alert',
  'connection.consent': 'consented to the use of the connection',
  'connection.end': 'revoked the tokens of the connection',
  'ca.activate': 'began to issue certificates with the next CA of',
  'ca.finish': 'removed the previous CA of',
  'ca.prepare': 'prepared the next CA of',
  'ca.replace': 'replaced at once the CA of',
  'lock.restored': 'restored the lock',
  'restore_gap.acknowledge': 'acknowledged the gap that a restore left for',
  'sign_in.dashboard': 'signed in to the console with',
  'sign_in.failed': 'failed to sign in with',
  'store.restored': 'restored a backup of the deployment',
  'webhook.replay': 'replayed events to the webhook',
  'webhook.retry': 'retried a delivery to the webhook',
  'webhook.test': 'sent a test to the webhook',
} as const

export type RecordName = keyof typeof RECORDS
export type RecordChange = keyof typeof CHANGES
/** Every action of an `admin_action` entry. */
export type AdminAction = `${RecordName}.${RecordChange}` | keyof typeof OTHERS

/** An action in words that stand between who did it and to what; that of a newer version is shown by its id. */
export function wordsOfAction(action: string): string {
  if (Object.hasOwn(OTHERS, action)) return OTHERS[action as keyof typeof OTHERS]
  const [record = '', change = ''] = action.split('.')
  return Object.hasOwn(RECORDS, record) && Object.hasOwn(CHANGES, change)
    ? `${CHANGES[change as RecordChange]} ${RECORDS[record as RecordName]}`
    : action
}
