import type { StoreFailure } from './failover-rounds.ts'
import { freePort } from './free-port.ts'
import { startStoreNode, type StoreNode } from './start-store-node.ts'
import { until } from './until.ts'

export interface KitSentinels {
  readonly nodes: readonly StoreNode[]
  readonly sentinels: readonly StoreNode[]
  readonly url: string
  readonly primary: () => Promise<StoreNode>
  readonly isWhole: () => Promise<boolean>
  /** What each Sentinel knows: its mode, the primary and the replicas. For the message of a test that fails. */
  readonly describe: () => Promise<string[]>
  /** In turn: the primary crashes, hands over to a replica, and hangs. */
  readonly failure: (round: number) => Promise<StoreFailure>
  readonly stop: () => Promise<void>
}

interface SentinelOptions {
  /** Password of the store. */
  readonly password?: string
  /** Password of the Sentinels themselves. */
  readonly sentinel_password?: string
  readonly down_after_ms?: number
  /** Further lines of the configuration of the primary and its replicas. */
  readonly config?: readonly string[]
  /** The port that clients reach a port by, such as one that speaks TLS. */
  readonly announced?: (port: number) => Promise<number>
  readonly scheme?: 'redis' | 'rediss'
}

const NAME = 'main'
const NODES = 3
const SENTINELS = 3
const QUORUM = 2
/**
 * An election, and the promotion of a replica, may each take this long before they start over. A Sentinel asks the others
 * once a second, so that two seconds are not enough where all cores are busy, however often it tries.
 */
const FAILOVER_TIMEOUT_MS = 6_000

/** A primary with two replicas, watched by three Sentinels. */
export async function startSentinels(options: SentinelOptions = {}): Promise<KitSentinels> {
  const { password, sentinel_password, down_after_ms = 1_500, scheme = 'redis' } = options
  const config = options.config ?? []
  const announced = options.announced ?? ((port: number) => Promise.resolve(port))
  const login = password === undefined ? [] : [`requirepass ${password}`, `primaryauth ${password}`]
  const shown = new Map<StoreNode, number>()
  const startNode = async (lines: readonly string[], is_sentinel = false): Promise<StoreNode> => {
    const port = await freePort()
    const own = await announced(port)
    const announce = is_sentinel ? 'sentinel announce-port' : 'replica-announce-port'
    const node = await startStoreNode({
      port,
      is_sentinel,
      config: [...lines, ...(own === port ? [] : [`${announce} ${own}`])],
      ...passwordOf(is_sentinel ? sentinel_password : password),
    })
    shown.set(node, own)
    return node
  }
  const first = await startNode([...login, ...config])
  const firstPort = shown.get(first) ?? 0
  const follow = [...login, ...config, `replicaof 127.0.0.1 ${firstPort}`]
  const replicas = await Promise.all(Array.from({ length: NODES - 1 }, () => startNode(follow)))
  const nodes = [first, ...replicas]
  const watch = [
    `sentinel monitor ${NAME} 127.0.0.1 ${firstPort} ${QUORUM}`,
    `sentinel down-after-milliseconds ${NAME} ${down_after_ms}`,
    `sentinel failover-timeout ${NAME} ${FAILOVER_TIMEOUT_MS}`,
    ...(password === undefined ? [] : [`sentinel auth-pass ${NAME} ${password}`]),
    ...(sentinel_password === undefined
      ? []
      : [`requirepass ${sentinel_password}`, `sentinel sentinel-pass ${sentinel_password}`]),
  ]
  const sentinels = await Promise.all(
    Array.from({ length: SENTINELS }, () => startNode(watch, true)),
  )
  const namedBy = async (sentinel: StoreNode): Promise<string> =>
    String(await sentinel.redis.call('SENTINEL', 'GET-PRIMARY-ADDR-BY-NAME', NAME))
  const primary = (): Promise<StoreNode> =>
    until('the Sentinels agree on the primary', async () => {
      const named = await Promise.all(sentinels.map(namedBy))
      const [place = ''] = named
      if (new Set(named).size !== 1) return null
      const node = nodes.find((one) => place === `127.0.0.1,${shown.get(one)}`)
      if (node?.isRunning() !== true) return null
      return (await node.redis.info('replication')).includes('role:master') ? node : null
    })
  const isWhole = async (): Promise<boolean> => {
    if (!nodes.every((node) => node.isRunning())) return false
    const infos = await Promise.all(nodes.map((node) => node.redis.info('replication')))
    const following = infos.filter((info) => info.includes('master_link_status:up')).length
    const seen = await Promise.all(
      sentinels.map(async ({ redis }) => String(await redis.call('SENTINEL', 'CKQUORUM', NAME))),
    )
    // A Sentinel that has not learned of the replicas from the primary can never replace it.
    const replicas = await Promise.all(
      sentinels.map(({ redis }) => redis.call('SENTINEL', 'REPLICAS', NAME)),
    )
    return (
      following === NODES - 1 &&
      seen.every((text) => text.startsWith('OK 3 usable')) &&
      replicas.every((list) => Array.isArray(list) && list.length === NODES - 1)
    )
  }
  const describe = (): Promise<string[]> =>
    Promise.all(
      sentinels.map(async ({ redis }) => {
        const answers = [
          await redis.info('sentinel'),
          await redis.call('SENTINEL', 'PRIMARY', NAME),
          await redis.call('SENTINEL', 'REPLICAS', NAME),
        ]
        return JSON.stringify(answers)
      }),
    )
  await until('the Sentinels are ready', () => isWhole().catch(() => false))
  const places = sentinels.map((sentinel) => `127.0.0.1:${shown.get(sentinel)}`).join(',')
  return {
    nodes,
    sentinels,
    url: `${scheme}+sentinel://${password === undefined ? '' : `:${password}@`}${places}/${NAME}`,
    primary,
    isWhole,
    describe,
    failure: async (round) => {
      const failing = await primary()
      const [sentinel] = sentinels
      const isOver = async (): Promise<boolean> => {
        const named = await Promise.all(sentinels.map(namedBy))
        if (new Set(named).size !== 1 || named[0] === `127.0.0.1,${shown.get(failing)}`)
          return false
        return (await primary()) !== failing
      }
      const kinds: readonly StoreFailure[] = [
        {
          name: 'kill -9 of the primary',
          begin: () => failing.kill(),
          isOver,
          repair: () => failing.start(),
        },
        {
          name: 'SENTINEL FAILOVER',
          begin: () => sentinel?.redis.call('SENTINEL', 'FAILOVER', NAME) ?? Promise.resolve(),
          isOver,
          repair: () => Promise.resolve(),
        },
        {
          name: 'SIGSTOP of the primary',
          begin: async () => failing.signal('SIGSTOP'),
          isOver,
          repair: async () => failing.signal('SIGCONT'),
        },
      ]
      return kinds[round % kinds.length] as StoreFailure
    },
    stop: async () => void (await Promise.all([...sentinels, ...nodes].map((one) => one.stop()))),
  }
}

const passwordOf = (password: string | undefined): { readonly password?: string } =>
  password === undefined ? {} : { password }
