import { ownerOfCluster } from '../../core/store/upstream-cluster.ts'
import { type ClustersRequest, deltaClusters } from '../envoy/delta-clusters.ts'
import type { EnvoyStream } from '../envoy/start-server.ts'
import type { PolicyStore } from '../policy/policy-store.ts'
import type { OwnUpstream } from '../policy/own-upstream.ts'
import { type ClusterTemplate, writeCluster } from './write-cluster.ts'

export interface ClusterServiceParts {
  readonly policy: Pick<PolicyStore, 'organization' | 'drop'>
  readonly log: Record<'warn' | 'error', (data: object, message: string) => void>
  /** Clusters that one Envoy may hold from this process. */
  readonly clusters_max?: number
}

type Templates = Readonly<Record<OwnUpstream['scheme'], ClusterTemplate>>

/** A stream of Envoy. */
interface OpenStream {
  readonly stream: EnvoyStream
  /** Null if the configuration of this Envoy has no templates, as one that is not the bundled one. */
  templates: Templates | null
  /** What Envoy holds, the oldest first. */
  readonly names: Set<string>
  /** The last answer with a cluster, should Envoy refuse it. */
  sent: { readonly nonce: string; readonly names: readonly string[] }
  nonce: number
}

/** Envoy keeps about 100 kB for each. */
const CLUSTERS_MAX = 500
const NAME_LENGTH_MAX = 256
const UNAVAILABLE = 14
const INVALID_ARGUMENT = 3

/**
 * On-demand delta CDS: the clusters of integrations with connection settings of their own. Envoy asks for a cluster when the
 * first call names it, and holds the call until then. Only what the store has now is sent: the name is a hash of it.
 */
export class ClusterService {
  readonly #parts: ClusterServiceParts
  readonly #open = new Set<OpenStream>()

  constructor(parts: ClusterServiceParts) {
    this.#parts = parts
  }

  readonly handler = (stream: EnvoyStream): void => {
    const names = new Set<string>()
    const at: OpenStream = {
      stream,
      templates: null,
      names,
      sent: { nonce: '', names: [] },
      nonce: 0,
    }
    this.#open.add(at)
    stream.on('data', (bytes: Buffer) => {
      this.#receive(at, bytes).catch((error: unknown) => {
        this.#parts.log.error({ error: String(error) }, 'a cluster could not be sent')
        this.#open.delete(at)
        stream.emit('error', { code: UNAVAILABLE, details: 'no cluster' })
      })
    })
    stream.on('end', () => {
      this.#open.delete(at)
      stream.end()
    })
    stream.on('cancelled', () => this.#open.delete(at))
    stream.on('error', () => this.#open.delete(at))
  }

  /** Withdraws the clusters of integrations that have been changed or deleted. No call names them any more. */
  async prune(): Promise<void> {
    for (const at of this.#open) {
      const removed: string[] = []
      for (const name of at.names) if ((await this.#find(name, false)) === null) removed.push(name)
      this.#withdraw(at, removed)
    }
  }

  /** Envoy opens its stream again, at another process. It keeps the clusters that it has. */
  stop(): void {
    for (const { stream } of this.#open) stream.end()
    this.#open.clear()
  }

  async #receive(at: OpenStream, bytes: Buffer): Promise<void> {
    let request: ClustersRequest
    try {
      request = deltaClusters.read(bytes)
      if (request.templates !== null) at.templates = readTemplates(request.templates)
    } catch {
      this.#open.delete(at)
      at.stream.emit('error', { code: INVALID_ARGUMENT, details: 'malformed message' })
      return
    }
    const { subscribe, unsubscribe, nonce, problem } = request
    for (const name of unsubscribe) at.names.delete(name)
    if (problem !== null) {
      this.#parts.log.error({ problem: problem.slice(0, 500) }, 'Envoy refused a cluster')
      if (nonce === at.sent.nonce) this.#withdraw(at, at.sent.names)
    }
    if (subscribe.length > 0) await this.#send(at, subscribe)
  }

  async #send(at: OpenStream, names: readonly string[]): Promise<void> {
    const clusters: { name: string; cluster: Buffer }[] = []
    const removed: string[] = []
    for (const name of names) {
      const found = at.templates === null ? null : await this.#find(name, true)
      at.names.delete(name)
      if (found === null || at.templates === null) {
        removed.push(name)
        continue
      }
      clusters.push({ name, cluster: writeCluster(name, found, at.templates[found.scheme]) })
      at.names.add(name)
    }
    if (!this.#open.has(at)) return
    this.#write(at, clusters, removed)
    const limit = this.#parts.clusters_max ?? CLUSTERS_MAX
    this.#withdraw(at, [...at.names].slice(0, Math.max(0, at.names.size - limit)))
  }

  /** Null if no integration has these settings now. @param again whether to read the store if the cache has none */
  async #find(name: string, again: boolean): Promise<OwnUpstream | null> {
    const owner = name.length > NAME_LENGTH_MAX ? null : ownerOfCluster(name)
    if (owner === null) return null
    const { organization_id } = owner
    const { policy } = this.#parts
    const found = (await policy.organization(organization_id)).upstreams.get(name)
    if (found !== undefined || !again) return found ?? null
    // The process that decided the call may have learned of the change first.
    policy.drop({ what: 'integrations', organization_id })
    return (await policy.organization(organization_id)).upstreams.get(name) ?? null
  }

  #withdraw(at: OpenStream, names: readonly string[]): void {
    for (const name of names) at.names.delete(name)
    if (names.length > 0) this.#write(at, [], names)
  }

  #write(
    at: OpenStream,
    clusters: readonly { readonly name: string; readonly cluster: Buffer }[],
    removed: readonly string[],
  ): void {
    at.nonce++
    const nonce = String(at.nonce)
    if (clusters.length > 0) at.sent = { nonce, names: clusters.map(({ name }) => name) }
    at.stream.write(deltaClusters.write({ nonce, clusters, removed }))
  }
}

/** @throws if Envoy's metadata is not what envoy/add-upstream-templates.ts writes */
function readTemplates(text: string): Templates {
  const given = JSON.parse(text) as Record<
    OwnUpstream['scheme'],
    { readonly cluster: string; readonly options: string }
  >
  const read = ({ cluster, options }: { cluster: string; options: string }): ClusterTemplate => ({
    cluster: Buffer.from(cluster, 'base64'),
    options: Buffer.from(options, 'base64'),
  })
  return { https: read(given.https), http: read(given.http) }
}
