import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { StoreFailure } from './failover-rounds.ts'
import { freePort } from './free-port.ts'
import { startStoreNode, type StoreNode } from './start-store-node.ts'
import { until } from './until.ts'

export interface KitCluster {
  readonly nodes: readonly StoreNode[]
  /** The address as an operator writes it, with every node. */
  readonly url: string
  /** The primary of the slot that holds all keys of the product, as the running nodes agree. */
  readonly primary: () => Promise<StoreNode>
  readonly replicasOf: (primary: StoreNode) => Promise<readonly StoreNode[]>
  /** In turn: the primary crashes, hands over to its replica, hangs, and a replica crashes. */
  readonly failure: (round: number) => Promise<StoreFailure>
  /** Every node runs, all slots are served, and each primary has a replica that follows. */
  readonly isWhole: () => Promise<boolean>
  readonly stop: () => Promise<void>
}

interface ClusterOptions {
  /** A node without an answer for this long is failed over. */
  readonly node_timeout_ms?: number
  /** The port that is announced to clients for a node, such as one that serves TLS. */
  readonly announced?: (port: number) => Promise<number>
  readonly scheme?: 'redis' | 'rediss'
}

const PRIMARIES = 3
const SLOTS = 16_384

/** Three primaries with a replica each. */
export async function startCluster(options: ClusterOptions = {}): Promise<KitCluster> {
  const { node_timeout_ms = 1_500, announced, scheme = 'redis' } = options
  const shown: number[] = []
  const nodes = await Promise.all(
    Array.from({ length: PRIMARIES * 2 }, async (_, i) => {
      const port = await freePort()
      shown[i] = announced === undefined ? port : await announced(port)
      return startStoreNode({
        port,
        config: [
          'cluster-enabled yes',
          `cluster-port ${await freePort()}`,
          `cluster-node-timeout ${node_timeout_ms}`,
          ...(shown[i] === port ? [] : [`cluster-announce-port ${shown[i]}`]),
          'cluster-replica-validity-factor 0',
        ],
      })
    }),
  )
  const idOf = new Map<StoreNode, string>()
  for (const node of nodes) idOf.set(node, String(await node.redis.call('CLUSTER', 'MYID')))
  await Promise.all(
    nodes.slice(0, PRIMARIES).map((node, i) => {
      const from = Math.floor((SLOTS * i) / PRIMARIES)
      const to = Math.floor((SLOTS * (i + 1)) / PRIMARIES) - 1
      return node.redis.call('CLUSTER', 'ADDSLOTSRANGE', from, to)
    }),
  )
  for (const node of nodes.slice(1)) {
    const [first] = nodes
    const bus = await node.redis.config('GET', 'cluster-port')
    await first?.redis.call('CLUSTER', 'MEET', '127.0.0.1', node.port, (bus as string[])[1] ?? '')
  }
  const running = (): readonly StoreNode[] => nodes.filter((node) => node.isRunning())
  const infoOf = (node: StoreNode): Promise<string> =>
    node.redis.call('CLUSTER', 'INFO').then(String, () => '')
  const nodeLines = async (node: StoreNode): Promise<readonly (readonly string[])[]> =>
    String(await node.redis.call('CLUSTER', 'NODES'))
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.split(' '))
  await until('all nodes know each other', async () => {
    const infos = await Promise.all(nodes.map(infoOf))
    return infos.every((info) => info.includes(`cluster_known_nodes:${nodes.length}`))
  })
  for (const [i, node] of nodes.slice(PRIMARIES).entries())
    await until('a node becomes a replica', () =>
      node.redis
        .call('CLUSTER', 'REPLICATE', idOf.get(nodes[i] as StoreNode) ?? '')
        .then(() => true)
        .catch(() => false),
    )
  const slot = Number(await nodes[0]?.redis.call('CLUSTER', 'KEYSLOT', REDIS_KEYS.epoch))
  const nodeOfId = (id: string): StoreNode | undefined =>
    nodes.find((node) => idOf.get(node) === id)
  const ownerAt = async (node: StoreNode): Promise<string | null> => {
    for (const [id = '', , flags = '', , , , , , ...ranges] of await nodeLines(node)) {
      if (!flags.includes('master') || /fail/.test(flags.replace('nofailover', ''))) continue
      const owns = ranges.some((range) => {
        const [from, to = from] = range.split('-').map(Number)
        return slot >= Number(from) && slot <= Number(to)
      })
      if (owns) return id
    }
    return null
  }
  const primary = (): Promise<StoreNode> =>
    until('the nodes agree on the primary', async () => {
      const owners = await Promise.all(running().map((node) => ownerAt(node).catch(() => null)))
      const [owner] = owners
      return typeof owner === 'string' && new Set(owners).size === 1 && nodeOfId(owner)
    })
  const replicasOf = async (of: StoreNode): Promise<readonly StoreNode[]> => {
    const id = idOf.get(of)
    return (await nodeLines(of)).flatMap(([own = '', , , follows]) => {
      const node = follows === id ? nodeOfId(own) : undefined
      return node === undefined ? [] : [node]
    })
  }
  const isWhole = async (): Promise<boolean> => {
    if (running().length !== nodes.length) return false
    const infos = await Promise.all(nodes.map(infoOf))
    if (!infos.every((info) => info.includes('cluster_state:ok'))) return false
    const roles = await Promise.all(nodes.map((node) => node.redis.info('replication')))
    const followed = roles.filter((role) => /^connected_slaves:[1-9]/m.test(role)).length
    const following = roles.filter((role) => role.includes('master_link_status:up')).length
    return followed === PRIMARIES && following === nodes.length - PRIMARIES
  }
  await until('the cluster is whole', () => isWhole().catch(() => false))
  return {
    nodes,
    url: `${scheme}+cluster://${shown.map((port) => `127.0.0.1:${port}`).join(',')}`,
    primary,
    replicasOf,
    isWhole,
    failure: async (round) => {
      const failing = await primary()
      const [replica] = await replicasOf(failing)
      if (replica === undefined) throw new Error('the primary has no replica')
      const isOver = async (): Promise<boolean> => {
        const others = running().filter((node) => node !== failing)
        const states = await Promise.all(
          others.map(async (node) => [await ownerAt(node), await infoOf(node)] as const),
        )
        return states.every(
          ([owner, info]) =>
            owner !== null && owner !== idOf.get(failing) && info.includes('cluster_state:ok'),
        )
      }
      return failuresOf(failing, replica, isOver)[round % FAILURE_KINDS] as StoreFailure
    },
    stop: async () => void (await Promise.all(nodes.map((node) => node.stop()))),
  }
}

const FAILURE_KINDS = 4

const failuresOf = (
  primary: StoreNode,
  replica: StoreNode,
  isOver: () => Promise<boolean>,
): readonly StoreFailure[] => [
  {
    name: 'kill -9 of the primary',
    begin: () => primary.kill(),
    isOver,
    repair: () => primary.start(),
  },
  {
    name: 'CLUSTER FAILOVER to the replica',
    begin: () => replica.redis.call('CLUSTER', 'FAILOVER'),
    isOver,
    repair: () => Promise.resolve(),
  },
  {
    name: 'SIGSTOP of the primary',
    begin: async () => primary.signal('SIGSTOP'),
    isOver,
    repair: async () => primary.signal('SIGCONT'),
  },
  {
    name: 'kill -9 of a replica',
    begin: () => replica.kill(),
    isOver: () => Promise.resolve(true),
    repair: () => replica.start(),
  },
]
