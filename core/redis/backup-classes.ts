import { REDIS_KEY_ROWS } from './redis-keys.ts'

/**
 * What a backup does with a key. `copied`: it is in the backup, and a restore replaces it. `log`: the same, entry by entry.
 * `removed`: it is not in the backup, and a restore removes it, since it can be computed again or refers to what is
 * replaced. `live`: it belongs to the running processes, and a restore does not touch it.
 */
export type BackupClass = 'copied' | 'log' | 'removed' | 'live'

/** A key without a class does not compile. */
const CLASSES: Readonly<Record<keyof typeof REDIS_KEY_ROWS, BackupClass>> = {
  installation: 'copied',
  restoring: 'live',
  restoringKills: 'live',
  encryptionKeys: 'copied',
  forwardCa: 'copied',
  keyHolders: 'live',
  epoch: 'copied',
  organizations: 'copied',
  organizationIndex: 'copied',
  agents: 'copied',
  agentIndex: 'copied',
  agentTombstones: 'copied',
  agentLastSeen: 'copied',
  agentLastPath: 'copied',
  agentScopes: 'copied',
  scopeOwners: 'copied',
  scopeIndex: 'copied',
  integrations: 'copied',
  integrationIndex: 'copied',
  integrationScopes: 'copied',
  integrationBaseUrls: 'copied',
  apiKeys: 'copied',
  apiKeyIndex: 'copied',
  apiKeyLastUsed: 'copied',
  apiKeyHashes: 'copied',
  adminTokens: 'copied',
  adminTokenIndex: 'copied',
  adminTokenLastUsed: 'copied',
  adminTokenHashes: 'copied',
  session: 'removed',
  sessionIndex: 'removed',
  idempotency: 'removed',
  activity: 'log',
  activityRestoring: 'removed',
  activityDigest: 'removed',
  activityIndex: 'removed',
  activityIndexes: 'removed',
  activityCounts: 'removed',
  activityCountBuckets: 'removed',
  activityBudget: 'live',
  activityLeader: 'live',
  anomalyLeader: 'live',
  anomalyState: 'copied',
  archiveWriter: 'live',
  archiveHeads: 'copied',
  logExporter: 'live',
  logExports: 'copied',
  logExportProblem: 'live',
  alert: 'copied',
  alertIndex: 'copied',
  alertsOpen: 'copied',
  alertNotices: 'copied',
  edgeMetrics: 'live',
  refusalCounts: 'copied',
  refusalCountsTold: 'copied',
  refusalFloods: 'copied',
  unknownCalls: 'copied',
  outbox: 'removed',
  outboxUsage: 'removed',
  rateFlood: 'removed',
  rateFloods: 'removed',
  webhooks: 'copied',
  webhookIndex: 'copied',
  webhookSubscriptions: 'copied',
  webhookState: 'copied',
  webhooksDue: 'removed',
  webhookQueue: 'removed',
  webhookInFlight: 'removed',
  webhookDeliveries: 'removed',
  webhookDelivery: 'removed',
  webhookSettled: 'removed',
  webhookEvent: 'removed',
  webhookEventTimes: 'removed',
  webhookIdleEvents: 'removed',
  webhookUsage: 'removed',
  webhooksDeleted: 'removed',
  webhookNotices: 'removed',
  killMails: 'removed',
  beaconLeader: 'live',
  edges: 'live',
  edgeBeats: 'live',
  kills: 'copied',
  killReceipts: 'copied',
  killReceiptIndex: 'copied',
  agentOrganizationKeys: 'copied',
  agentCalls: 'removed',
  rateLog: 'removed',
  rateViolations: 'removed',
  acknowledgements: 'live',
}

const BY_KIND = new Map(
  Object.entries(REDIS_KEY_ROWS).map(([name, { kind }]) => [
    kind as string,
    CLASSES[name as keyof typeof CLASSES],
  ]),
)

/** Of a key by its name; null for a key that is not of this version. */
export function backupClass(name: string): BackupClass | null {
  const kind = /^\{agw\}:([^:]+)/.exec(name)?.[1] ?? ''
  return BY_KIND.get(kind) ?? null
}
