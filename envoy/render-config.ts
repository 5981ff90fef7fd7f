import { stringify } from 'yaml'
import type { Settings } from '../core/settings/settings.ts'
import { asEnvoyGateway } from './as-envoy-gateway.ts'
import { asIstio } from './as-istio.ts'
import { asListener } from './as-listener.ts'
import { asParts } from './as-parts.ts'
import type { ConfigPart } from './config-part.ts'
import { type MergeForm, mergeConfig, type MergePlace } from './merge-config.ts'
import { type BootFacts, baseUrlBootstrap, renderBootstrap } from './render-bootstrap.ts'
import { SDS_CONFIG_MAP, sdsConfigMap } from './sds-config-map.ts'
import { sdsFiles } from './tls-contexts.ts'

/** For whose Envoy a configuration is, and how much of it there is. */
export type ConfigMode =
  | 'standalone'
  | 'listener'
  | 'virtual-host'
  | 'filter'
  | 'envoy-gateway'
  | 'istio'

export interface ConfigPlace {
  readonly mode: ConfigMode
  /** Of the virtual host. */
  readonly hostnames: readonly string[]
  /** The bootstrap that the gateway is added to; null prints the parts to add. */
  readonly merge: {
    readonly bootstrap: string
    readonly into: MergePlace
    readonly form: MergeForm
  } | null
  /** Of the manifests for Kubernetes. */
  readonly namespace: string
}

/** What `agw envoy-config` prints. */
export function renderConfig(
  { mode, hostnames, merge, namespace }: ConfigPlace,
  settings: Settings,
  facts: BootFacts,
): string {
  if (mode === 'standalone') return renderBootstrap(settings, facts)
  const isKubernetes = mode === 'envoy-gateway' || mode === 'istio'
  const own = baseUrlBootstrap(
    settings,
    isKubernetes ? { ...facts, sds_directory: SDS_CONFIG_MAP.mount } : facts,
  )
  const text = (value: object): string =>
    stringify(value, { lineWidth: 0, aliasDuplicateObjects: false })
  const documents = (parts: object, resources: readonly object[]): string => {
    const files = sdsFiles(settings, JSON.stringify(parts))
    return (files === null ? resources : [sdsConfigMap(namespace, files), ...resources])
      .map(text)
      .join('---\n')
  }
  const added = (parts: ConfigPart, comment: string): string =>
    merge === null
      ? `${comment}${text(parts)}`
      : mergeConfig(merge.bootstrap, parts, merge.into, merge.form)
  switch (mode) {
    case 'listener':
      return added(asListener(own), LISTENER)
    case 'virtual-host':
      return added(asParts(own, { kind: mode, hostnames }), VIRTUAL_HOST)
    case 'filter':
      return added(asParts(own, { kind: mode }), FILTER)
    case 'envoy-gateway': {
      const parts = asParts(own, { kind: 'own-port', hostnames })
      const place = {
        namespace,
        hostnames,
        port: settings.proxyPort,
        tls_cert_file: settings.extProcTlsCertFile,
        ext_proc_addresses: facts.ext_proc_addresses,
      }
      return `${ENVOY_GATEWAY}${documents(parts, asEnvoyGateway(parts, place))}`
    }
    case 'istio': {
      const parts = asParts(own, { kind: 'own-port', hostnames })
      const place = { namespace, hostnames, port: settings.proxyPort }
      return `${ISTIO}${documents(parts, asIstio(parts, place))}`
    }
  }
}

const LISTENER = `# A listener for the Agent Access Gateway, to be added to the bootstrap of an Envoy; --merge FILE does it.
# See docs/guides/existing-envoy.md.
`

const ORDER = `# --merge FILE does all of this:
# http_filters: into the connection manager of your listener, in this order and directly before the router. No filter between
# them and the router may change headers or clear the route cache. All are off by default.
# access_log: add to the access logs of that connection manager.
# bootstrap: merge into your bootstrap.
`

const VIRTUAL_HOST = `# Parts of the Agent Access Gateway for a virtual host on a listener of yours. See docs/guides/existing-envoy.md.
# virtual_host: add to the route configuration. The filters are on here only.
${ORDER}`

const FILTER = `# Parts of the Agent Access Gateway for a virtual host of yours. See docs/guides/existing-envoy.md.
# routes: insert before all other routes of the virtual host, in this order. The filters are on in these routes only.
${ORDER}`

const ENVOY_GATEWAY = `# The Agent Access Gateway on Envoy Gateway. See docs/guides/kubernetes.md#envoy-gateway.
# Contains the verdict secret: whoever may read EnvoyPatchPolicies of this namespace can read it.
# Envoy Gateway needs extensionApis.enableEnvoyPatchPolicy and extensionApis.enableBackend.
`

const ISTIO = `# The Agent Access Gateway on an ingress gateway of Istio. See docs/guides/kubernetes.md#istio.
# Contains the verdict secret: whoever may read EnvoyFilters of this namespace can read it.
`
