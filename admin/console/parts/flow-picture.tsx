import type { Flow } from '../api-types.ts'
import { linkTo } from '../place.ts'

/** On each side; the others are one node. */
const NODES_MAX = 12
/** The picture is stretched to its place: both are shares of it. */
const SIZE = 1000
const GATE = SIZE / 2
const GAP = 10
/** The least height of a node, so that its name has room. */
const LEAST = 50
const OTHERS = 'others'

interface Node {
  readonly id: string
  readonly name: string
  readonly href: string | null
  readonly calls: number
  /** Of the picture, from its top. */
  top: number
  height: number
  /** Where the next ribbon begins. */
  next: number
}

interface Ribbon {
  readonly key: string
  readonly title: string
  readonly isRefused: boolean
  readonly path: string
}

const rate = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })
const LEAST_SHOWN = 0.1

/** Few calls are not shown as none. */
export function rateText(calls: number, minutes: number): string {
  const each = calls / minutes
  return each > 0 && each < LEAST_SHOWN ? `<${LEAST_SHOWN}` : rate.format(each)
}

/** Agents at the left, APIs at the right. Ribbons are as wide as their calls; refused ones end at the gate. */
export function FlowPicture({ flow }: { flow: Flow }) {
  const { agents, apis, ribbons } = pictureOf(flow)
  const { total, minutes } = flow
  const perMinute = (calls: number): string => rateText(calls, minutes)
  return (
    <>
      <p class="flow-total">
        <strong>{perMinute(total.allowed)}</strong> calls a minute allowed,{' '}
        <strong class={total.refused > 0 ? 'refused' : ''}>{perMinute(total.refused)}</strong>{' '}
        refused at the gate
      </p>
      <div class="flow-picture">
        <Names title="Agents" nodes={agents} perMinute={perMinute} />
        <svg viewBox={`0 0 ${SIZE} ${SIZE}`} preserveAspectRatio="none" aria-hidden="true">
          {ribbons.map(({ key, title, isRefused, path }) => (
            <path key={key} class={isRefused ? 'refused' : 'allowed'} d={path}>
              <title>{title}</title>
            </path>
          ))}
          <path class="gate" d={`M${GATE} 0V${SIZE}`} />
        </svg>
        <Names title="APIs" nodes={apis} perMinute={perMinute} />
      </div>
    </>
  )
}

const Names = ({
  title,
  nodes,
  perMinute,
}: {
  title: string
  nodes: readonly Node[]
  perMinute: (calls: number) => string
}) => (
  <ul aria-label={title}>
    {nodes.map(({ id, name, href, calls, top, height }) => (
      <li key={id} style={{ top: `${top / 10}%`, height: `${height / 10}%` }}>
        {href === null ? <span>{name}</span> : <a href={href}>{name}</a>}
        <small class="muted">{perMinute(calls)}/min</small>
      </li>
    ))}
  </ul>
)

type Pair = Flow['pairs'][number]

function pictureOf({ pairs, others }: Flow) {
  const rest = { agent_id: OTHERS, integration_id: OTHERS, ...others }
  const all = [...pairs, { ...rest, agent_name: null, integration_name: null }].filter(
    ({ allowed, refused }) => allowed + refused > 0,
  )
  const agents = nodesOf(
    all,
    ({ agent_id }) => agent_id,
    ({ agent_name }) => agent_name,
    'agents',
    ({ allowed, refused }) => allowed + refused,
  )
  // Refused calls do not reach an API.
  const apis = nodesOf(
    all,
    ({ integration_id }) => integration_id,
    ({ integration_name }) => integration_name,
    'integrations',
    ({ allowed }) => allowed,
  )
  const ribbons: Ribbon[] = []
  // In the order of the nodes, so that few ribbons cross.
  const rank = (nodes: ReadonlyMap<string, Node>, id: string): number => nodes.get(id)?.top ?? 0
  const merged = mergePairs(all, agents, apis).toSorted(
    (a, b) =>
      rank(agents, a.agent) - rank(agents, b.agent) || rank(apis, a.api) - rank(apis, b.api),
  )
  for (const { agent, api, allowed, refused } of merged) {
    const [from, to] = [agents.get(agent), apis.get(api)]
    if (from === undefined) continue
    const title = `${from.name} to ${to?.name ?? 'no API'}`
    if (allowed > 0 && to !== undefined)
      ribbons.push({
        key: `${agent} ${api}`,
        title: `${title}: ${allowed.toLocaleString()} allowed`,
        isRefused: false,
        path: ribbon(take(from, allowed), take(to, allowed)),
      })
    if (refused > 0)
      ribbons.push({
        key: `${agent} ${api} refused`,
        title: `${title}: ${refused.toLocaleString()} refused`,
        isRefused: true,
        path: block(take(from, refused)),
      })
  }
  return { agents: [...agents.values()], apis: [...apis.values()], ribbons }
}

type Band = readonly [top: number, bottom: number]

/** The part of a node that so many of its calls take. */
function take(node: Node, calls: number): Band {
  const top = node.next
  node.next += (calls / Math.max(1, node.calls)) * node.height
  return [top, node.next]
}

const at = (value: number): string => value.toFixed(1)
const ribbon = ([a, b]: Band, [c, d]: Band): string =>
  `M0 ${at(a)}C${GATE} ${at(a)} ${GATE} ${at(c)} ${SIZE} ${at(c)}V${at(d)}C${GATE} ${at(d)} ${GATE} ${at(b)} 0 ${at(b)}z`
const block = ([a, b]: Band): string => `M0 ${at(a)}H${GATE}V${at(b)}H0z`

/** The largest nodes of a side, from the top down, and one for the others. */
function nodesOf(
  pairs: readonly Pair[],
  idOf: (pair: Pair) => string | null,
  nameOf: (pair: Pair) => string | null,
  page: 'agents' | 'integrations',
  callsOf: (pair: Pair) => number,
): ReadonlyMap<string, Node> {
  const found = new Map<string, { name: string; calls: number }>()
  for (const pair of pairs) {
    const id = idOf(pair) ?? OTHERS
    const calls = callsOf(pair)
    const node = found.get(id) ?? { name: nameOf(pair) ?? id, calls: 0 }
    found.set(id, node)
    node.calls += calls
  }
  const falling = [...found]
    .filter(([id, { calls }]) => calls > 0 && id !== OTHERS)
    .toSorted(([, a], [, b]) => b.calls - a.calls)
  const shown = falling.slice(0, NODES_MAX)
  const rest = [...falling.slice(NODES_MAX), [OTHERS, found.get(OTHERS)] as const].reduce(
    (sum, [, node]) => sum + (node?.calls ?? 0),
    0,
  )
  const further = Math.max(0, falling.length - NODES_MAX)
  if (rest > 0)
    shown.push([OTHERS, { name: further > 0 ? `${further} others` : OTHERS, calls: rest }])
  const sum = Math.max(
    1,
    shown.reduce((all, [, { calls }]) => all + calls, 0),
  )
  const free = SIZE - shown.length * LEAST - Math.max(0, shown.length - 1) * GAP
  let top = 0
  return new Map(
    shown.map(([id, { name, calls }]) => {
      const height = LEAST + (free * calls) / sum
      const href = id === OTHERS ? null : linkTo([page, id])
      const node: Node = { id, name, href, calls, top, height, next: top }
      top += height + GAP
      return [id, node]
    }),
  )
}

/** Pairs whose nodes are not shown belong to the others. */
function mergePairs(
  pairs: readonly Pair[],
  agents: ReadonlyMap<string, Node>,
  apis: ReadonlyMap<string, Node>,
) {
  const merged = new Map<string, { agent: string; api: string; allowed: number; refused: number }>()
  for (const { agent_id, integration_id, allowed, refused } of pairs) {
    const agent = agents.has(agent_id ?? '') ? (agent_id ?? '') : OTHERS
    const api = apis.has(integration_id ?? '') ? (integration_id ?? '') : OTHERS
    const key = `${agent} ${api}`
    const one = merged.get(key) ?? { agent, api, allowed: 0, refused: 0 }
    merged.set(key, one)
    one.allowed += allowed
    one.refused += refused
  }
  return [...merged.values()]
}
