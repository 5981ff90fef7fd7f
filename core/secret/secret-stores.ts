import { egressProxyOf, type EgressProxySettings } from '../egress/egress-proxy.ts'
import { AddressPolicy } from '../egress/address-policy.ts'
import { createHostResolver } from '../egress/resolve-host.ts'
import { Secret } from '../keys/secret.ts'
import { readSecretFile } from '../settings/secret-file.ts'
import type { Settings } from '../settings/settings.ts'
import type { Egress } from '../token/post-form.ts'
import type { AwsAccess } from './read-aws-secret.ts'
import type { VaultAccess } from './read-vault.ts'

/** Where references of each kind are read; null: it is not set. */
export interface SecretStores {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly egress: Egress
  readonly vault: VaultAccess | null
  readonly aws: AwsAccess | null
}

export type StoreSettings = EgressProxySettings &
  Pick<
    Settings,
    | 'dnsResolvers'
    | 'upstreamCaFile'
    | 'vaultUrl'
    | 'vaultToken'
    | 'vaultTokenFile'
    | 'vaultNamespace'
    | 'awsRegion'
    | 'awsSecretsUrl'
    | 'awsAccessKeyId'
    | 'awsSecretAccessKey'
    | 'awsSessionToken'
  >

/** The deployment names these hosts, not an organization, so they may be private. */
const ANY_ADDRESS = ['0.0.0.0/0', '::/0']

export function secretStores(
  settings: StoreSettings,
  env: Readonly<Record<string, string | undefined>>,
): SecretStores {
  const { vaultUrl: url, vaultToken, vaultTokenFile: file, vaultNamespace: namespace } = settings
  const { awsRegion: region, awsAccessKeyId, awsSecretAccessKey, awsSessionToken } = settings
  const fresh = (): string | null => {
    const read = file === null ? null : readSecretFile(file)
    return read === null ? vaultToken : read.ok ? read.value : null
  }
  return {
    env,
    egress: {
      policy: new AddressPolicy(ANY_ADDRESS),
      resolve: createHostResolver(settings.dnsResolvers),
      extra_ca_file: settings.upstreamCaFile,
      proxy: egressProxyOf(settings),
    },
    vault: url === null ? null : { url, namespace, token: fresh },
    aws:
      region === null || awsAccessKeyId === null || awsSecretAccessKey === null
        ? null
        : {
            region,
            url: settings.awsSecretsUrl,
            access_key_id: awsAccessKeyId,
            secret_access_key: new Secret(awsSecretAccessKey),
            session_token: awsSessionToken === null ? null : new Secret(awsSessionToken),
          },
  }
}
