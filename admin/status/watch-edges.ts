import { setTimeout as wait } from 'node:timers/promises'
import { raiseAlert } from '../../core/alerts/raise-alert.ts'
import type { EdgeRecord } from '../../core/control/control-message.ts'
import { liveEdgeRecords } from '../../core/control/live-edge-records.ts'
import type { EdgeWatch } from './edge-watch.ts'
import { makeClockWatch } from './make-clock-watch.ts'
import { makeLostWatch } from './make-lost-watch.ts'

/**
 * Raises an alert while two live edge processes have one name, such as two hosts with the same `AGW_EDGE_ID`. Kills are
 * not affected, since acknowledgements go by process; but the log and the metrics do not tell the two apart. Two checks in
 * a row have to agree, a lease apart: by then a process that has died, and was replaced, has no fresh heartbeat.
 * @returns the function that stops it
 */
export function watchEdges(parts: EdgeWatch): () => void {
  const stopped = new AbortController()
  const lookAtClocks = makeClockWatch(parts)
  const lookForLost = makeLostWatch(parts)
  void (async () => {
    let before: ReadonlySet<string> = new Set()
    for (;;) {
      await wait(parts.lease_ms, undefined, { signal: stopped.signal, ref: false })
      // At the same time, so that they are asked for together. While the store is unavailable, the edges are unknown.
      const [shared] = await Promise.all([
        sharedNames(parts).catch(() => new Map<string, readonly EdgeRecord[]>()),
        lookAtClocks().catch(() => undefined),
        lookForLost().catch(() => undefined),
      ])
      for (const [name, records] of shared)
        if (before.has(name)) await report(parts, name, records).catch(() => undefined)
      before = new Set(shared.keys())
    }
  })().catch(() => undefined)
  return () => stopped.abort()
}

async function sharedNames({
  redis,
  lease_ms,
}: EdgeWatch): Promise<Map<string, readonly EdgeRecord[]>> {
  const byName = new Map<string, readonly EdgeRecord[]>()
  for (const { record } of await liveEdgeRecords(redis, lease_ms / 2)) {
    if (!record.draining)
      byName.set(record.edge_id, [...(byName.get(record.edge_id) ?? []), record])
  }
  return new Map([...byName].filter(([, records]) => records.length > 1))
}

const report = (
  { redis, organization_id, now }: EdgeWatch,
  edge_id: string,
  records: readonly EdgeRecord[],
): Promise<string> =>
  raiseAlert(
    redis,
    organization_id,
    {
      about: `edge_name ${edge_id}`,
      kind: 'edge_name_clash',
      severity: 'high',
      title: `${records.length} running edges are called ${edge_id}. Give each host its own AGW_EDGE_ID.`,
      occurrence: { edge_id, started_at: records.map(({ started_at }) => started_at) },
    },
    now(),
  )
