import {
  ownerOfCluster,
  readVariant,
  TEMPLATE_NAMES,
  type TemplateName,
} from '../../core/store/upstream-cluster.ts'
import { type ClustersRequest, deltaClusters, type ServedCluster } from '../envoy/delta-clusters.ts'
import { type DeltaStream, DeltaStreams } from '../envoy/delta-streams.ts'
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

/** `wss`: HTTP/1.1 with TLS. `proxied_…`: through the egress proxy. Null in a configuration without it. */
type Templates = Readonly<Record<TemplateName, ClusterTemplate | null>>

type AskedClusters = Omit<ClustersRequest, 'templates'> & { readonly templates: Templates | null }

interface OpenStream extends DeltaStream {
  /** Null if the configuration of this Envoy has no templates, as one that is not the bundled one. */
  templates: Templates | null
  /** What Envoy holds, the oldest first. */
  readonly names: Set<string>
  /** The last answer with a cluster, should Envoy refuse it. */
  sent: { readonly nonce: number; readonly names: readonly string[] }
  nonce: number
}

/** Envoy keeps about 100 kB for each. */
const CLUSTERS_MAX = 500
const NAME_LENGTH_MAX = 256

/**
 * On-demand delta CDS: the clusters of integrations with connection settings of their own. Envoy asks for a cluster when the
 * first call names it, and holds the call until then. Only what the store has now is sent: the name is a hash of it.
 */
export class ClusterService {
  readonly #parts: ClusterServiceParts
  readonly #streams: DeltaStreams<AskedClusters, OpenStream>

  constructor(parts: ClusterServiceParts) {
    this.#parts = parts
    this.#streams = new DeltaStreams<AskedClusters, OpenStream>({
      what: 'cluster',
      begin: (stream) => ({
        stream,
        templates: null,
        names: new Set(),
        sent: { nonce: 0, names: [] },
        nonce: 0,
      }),
      read: readClusters,
      receive: (at, request) => this.#receive(at, request),
      log: parts.log,
    })
  }

  get handler(): (stream: EnvoyStream) => void {
    return this.#streams.handler
  }

  /** Withdraws the clusters of integrations that have been changed or deleted. No call names them any more. */
  async prune(): Promise<void> {
    for (const at of this.#streams) {
      const removed: string[] = []
      for (const name of at.names) if ((await this.#find(name, false)) === null) removed.push(name)
      this.#withdraw(at, removed)
    }
  }

  stop(): void {
    this.#streams.stop()
  }

  async #receive(at: OpenStream, request: AskedClusters): Promise<void> {
    if (request.templates !== null) at.templates = request.templates
    const { subscribe, unsubscribe, nonce, problem } = request
    for (const name of unsubscribe) at.names.delete(name)
    if (problem !== null) {
      this.#parts.log.error({ problem: problem.slice(0, 500) }, 'Envoy refused a cluster')
      if (nonce === at.sent.nonce) this.#withdraw(at, at.sent.names)
    }
    if (subscribe.length > 0) await this.#send(at, subscribe)
  }

  async #send(at: OpenStream, names: readonly string[]): Promise<void> {
    const clusters: ServedCluster[] = []
    const removed: string[] = []
    for (const name of names) {
      const found = at.templates === null ? null : await this.#find(name, true)
      at.names.delete(name)
      const { is_socket, is_proxied } = readVariant(name)
      const kind: 'wss' | 'https' | 'http' =
        is_socket && found?.scheme === 'https' ? 'wss' : (found?.scheme ?? 'http')
      const template = at.templates?.[is_proxied ? (`proxied_${kind}` as const) : kind] ?? null
      if (found === null || template === null) {
        removed.push(name)
        continue
      }
      const cluster = writeCluster(name, found, template, is_proxied)
      // The name contains a hash of the content, so a cluster has one version.
      clusters.push({ name, version: '1', cluster })
      at.names.add(name)
    }
    if (!this.#streams.isOpen(at)) return
    this.#write(at, clusters, removed)
    const limit = this.#parts.clusters_max ?? CLUSTERS_MAX
    this.#withdraw(at, [...at.names].slice(0, Math.max(0, at.names.size - limit)))
  }

  /** Null if no integration has these settings now. @param again whether to read the store if the cache has none */
  async #find(asked: string, again: boolean): Promise<OwnUpstream | null> {
    const { name } = readVariant(asked)
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

  #write(at: OpenStream, clusters: readonly ServedCluster[], removed: readonly string[]): void {
    at.nonce++
    const { nonce } = at
    if (clusters.length > 0) at.sent = { nonce, names: clusters.map(({ name }) => name) }
    at.stream.write(deltaClusters.write({ nonce, resources: clusters, removed }))
  }
}

/** @throws when the message is malformed */
function readClusters(bytes: Buffer): AskedClusters {
  const request = deltaClusters.read(bytes)
  const { templates } = request
  return { ...request, templates: templates === null ? null : readTemplates(templates) }
}

/** @throws if Envoy's metadata is not what envoy/add-upstream-templates.ts writes */
function readTemplates(text: string): Templates {
  const given = JSON.parse(text) as Partial<Record<TemplateName, TemplateText>>
  const read = (name: TemplateName): ClusterTemplate | null => {
    const found = given[name]
    if (found === undefined) return null
    const { cluster, options } = found
    return { cluster: Buffer.from(cluster, 'base64'), options: Buffer.from(options, 'base64') }
  }
  const names = TEMPLATE_NAMES.map((name) => [name, read(name)] as const)
  return Object.fromEntries(names) as Templates
}

interface TemplateText {
  readonly cluster: string
  readonly options: string
}
