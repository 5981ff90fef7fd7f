import { AddressPolicy } from '../egress/address-policy.ts'
import { egressProxyOf, type EgressProxySettings } from '../egress/egress-proxy.ts'
import { createHostResolver } from '../egress/resolve-host.ts'
import type { Settings } from '../settings/settings.ts'
import type { Egress } from './post-form.ts'

export type EgressSettings = Pick<
  Settings,
  'egressAllowCidrs' | 'dnsResolvers' | 'upstreamCaFile'
> &
  EgressProxySettings

/** Connections to token endpoints follow the same rules as those of Envoy for calls. */
export const egressOf = (settings: EgressSettings): Egress => ({
  policy: new AddressPolicy(settings.egressAllowCidrs),
  resolve: createHostResolver(settings.dnsResolvers),
  extra_ca_file: settings.upstreamCaFile,
  proxy: egressProxyOf(settings),
})
