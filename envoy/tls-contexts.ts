import { isIP } from 'node:net'
import { join } from 'node:path'
import { stringify } from 'yaml'
import type { Settings } from '../core/settings/settings.ts'

type TlsSettings = Pick<
  Settings,
  | 'tlsCertFile'
  | 'tlsKeyFile'
  | 'extProcTlsCertFile'
  | 'extProcTlsKeyFile'
  | 'extProcTlsCaFile'
  | 'extProcTlsServerSans'
>

const NAMES = {
  listener: 'agw_listener_certificate',
  ext_proc: 'agw_ext_proc_certificate',
  ca: 'agw_ext_proc_ca',
} as const

/** Of Envoy's configuration. */
type Message = Readonly<Record<string, unknown>>

/**
 * What Envoy presents and accepts on the listener and to ext-proc.
 * @param directory where Envoy finds the files of `sdsFiles`, and so reads renewed certificates without a restart; null names
 *   the certificates themselves, which Envoy reads once
 */
export function tlsContexts(
  settings: TlsSettings,
  directory: string | null,
): { readonly listener_tls: Message; readonly ext_proc_tls: Message } {
  const sans = settings.extProcTlsServerSans.map(sanMatcher)
  const names = sans.length === 0 ? {} : { match_typed_subject_alt_names: sans }
  const from = (name: string): Message => secretFrom(name, directory ?? '')
  const presented = (name: string, pair: Message): Message =>
    directory === null
      ? { tls_certificates: [pair] }
      : { tls_certificate_sds_secret_configs: [from(name)] }
  return {
    listener_tls: {
      alpn_protocols: ['h2', 'http/1.1'],
      tls_params: { tls_minimum_protocol_version: 'TLSv1_2' },
      ...presented(NAMES.listener, pairOf(settings.tlsCertFile, settings.tlsKeyFile)),
    },
    ext_proc_tls: {
      alpn_protocols: ['h2'],
      ...presented(NAMES.ext_proc, pairOf(settings.extProcTlsCertFile, settings.extProcTlsKeyFile)),
      ...(directory === null
        ? { validation_context: { trusted_ca: { filename: settings.extProcTlsCaFile }, ...names } }
        : {
            combined_validation_context: {
              default_validation_context: names,
              validation_context_sds_secret_config: from(NAMES.ca),
            },
          }),
    },
  }
}

/**
 * The files of SDS that a configuration refers to, by their names; null if there are none. Each leads to certificates, whose
 * directories Envoy watches for what is renamed there.
 */
export function sdsFiles(
  settings: TlsSettings,
  config: string,
): Readonly<Record<string, string>> | null {
  const secrets: Readonly<Record<string, Message>> = {
    [NAMES.listener]: { tls_certificate: pairOf(settings.tlsCertFile, settings.tlsKeyFile) },
    [NAMES.ext_proc]: {
      tls_certificate: pairOf(settings.extProcTlsCertFile, settings.extProcTlsKeyFile),
    },
    [NAMES.ca]: { validation_context: { trusted_ca: { filename: settings.extProcTlsCaFile } } },
  }
  const used = Object.entries(secrets).filter(([name]) => config.includes(name))
  const files = used.map(([name, secret]) => [
    fileName(name),
    stringify({ resources: [{ ...TYPE, name, ...secret }] }),
  ])
  return used.length === 0 ? null : Object.fromEntries(files)
}

const TYPE = {
  '@type': 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret',
} as const

const fileName = (name: string): string => `${name}.yaml`

const pairOf = (certificate: string | null, key: string | null): Message => ({
  certificate_chain: { filename: certificate },
  private_key: { filename: key },
})

const secretFrom = (name: string, directory: string): Message => ({
  name,
  sds_config: {
    resource_api_version: 'V3',
    // Kubernetes replaces a mounted file by renaming a link in its directory.
    path_config_source: {
      path: join(directory, fileName(name)),
      watched_directory: { path: directory },
    },
  },
})

const sanMatcher = (san: string): Message => ({
  san_type: san.includes('://') ? 'URI' : isIP(san) > 0 ? 'IP_ADDRESS' : 'DNS',
  matcher: { exact: san },
})
