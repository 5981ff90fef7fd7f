import type { ControlMessage, EdgeRecord } from '../../core/control/control-message.ts'
import { parseControlMessage } from '../../core/control/control-message.ts'
import { processOf } from '../../core/control/process-of.ts'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import { CHANNELS, REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { runScript } from '../../core/redis/run-script.ts'

export interface TestEdge {
  /** The numbered messages it has received, oldest first. */
  readonly heard: readonly Extract<ControlMessage, { kind: 'control' }>[]
  /** Acknowledges a message that it kept back. */
  readonly acknowledge: (epoch: number) => Promise<void>
  /** Beats once more, as a living edge does all the time. */
  readonly beat: () => Promise<void>
  readonly next: () => Promise<Extract<ControlMessage, { kind: 'control' }>>
  readonly stop: () => Promise<void>
}

/** An edge that uses the real control channel; with `keepsBack` it acknowledges only on request. */
export async function startTestEdge(
  redisUrl: string,
  edge_id: string,
  {
    keepsBack = false,
    ...more
  }: { readonly keepsBack?: boolean } & Pick<
    EdgeRecord,
    'store_format' | 'process_id' | 'key_ids' | 'knows' | 'version'
  > = {},
): Promise<TestEdge> {
  const redis = connectRedis(redisUrl, { name: edge_id, role: 'queue' })
  const subscription = connectRedis(redisUrl, { name: `${edge_id}-sub`, role: 'subscription' })
  const heard: Extract<ControlMessage, { kind: 'control' }>[] = []
  const waiting: ((message: Extract<ControlMessage, { kind: 'control' }>) => void)[] = []
  const record: EdgeRecord = {
    edge_id,
    region: 'test',
    started_at: new Date().toISOString(),
    in_flight: 0,
    draining: false,
    ...more,
  }
  const keys = [
    REDIS_KEYS.edges,
    REDIS_KEYS.edgeBeats,
    REDIS_KEYS.beatClock,
    REDIS_KEYS.epoch,
    REDIS_KEYS.lostEdges,
  ] as const
  const say = async (text: string): Promise<void> => {
    await runScript(redis, 'beat', keys, [processOf(record), text, 60_000])
  }
  const beat = () => say(JSON.stringify(record))
  const acknowledge = async (epoch: number): Promise<void> => {
    const { process_id } = record
    const counts = { terminated: 0, unconfirmed: 0 }
    const text = JSON.stringify({ epoch, edge_id, process_id, region: 'test', ...counts })
    const key = REDIS_KEYS.acknowledgements(epoch)
    await runScript(
      redis,
      'acknowledge',
      [key],
      [processOf(record), text, CHANNELS.acknowledgements, 60],
    )
  }
  subscription.on('message', (_channel: string, text: string) => {
    const message = parseControlMessage(text)
    if (message?.kind !== 'control') return
    heard.push(message)
    waiting.shift()?.(message)
    if (!keepsBack) void acknowledge(message.epoch)
  })
  await subscription.subscribe(CHANNELS.control)
  await beat()
  return {
    heard,
    acknowledge,
    beat,
    next: () => new Promise((resolve) => waiting.push(resolve)),
    stop: async () => {
      await say('')
      redis.disconnect()
      subscription.disconnect()
    },
  }
}
