import { availableParallelism, hostname } from 'node:os'
import * as kinds from './setting-kinds.ts'
import type { Kind } from './setting-kinds.ts'

/**
 * The catalogue of settings: every environment variable of contract §1, and those by which `agw start` tells its
 * children what it has decided. The table in docs/settings.md is made from it.
 */
interface Row<T> {
  readonly name: string
  readonly kind: Kind<T>
  /** The text that stands in when the variable is unset or empty; null leaves the setting null. */
  readonly fallback: string | (() => string) | null
  /** The default as people read it, where it differs from the fallback. */
  readonly shown_default?: string | undefined
  readonly description: string
  /** False while nothing acts on the setting yet; the start log then says so. */
  readonly in_force: boolean
  /** For people, or between the launcher and its children. */
  readonly audience: 'operator' | 'internal'
}

type Options = Partial<Pick<Row<unknown>, 'in_force' | 'audience' | 'shown_default'>>

const withDefault = <T>(
  name: string,
  kind: Kind<T>,
  fallback: string | (() => string),
  description: string,
  options: Options = {},
) =>
  ({ name, kind, fallback, description, in_force: true, audience: 'operator', ...options }) as const

const optional = <T>(name: string, kind: Kind<T>, description: string, options: Options = {}) =>
  ({
    name,
    kind,
    fallback: null,
    description,
    in_force: true,
    audience: 'operator',
    ...options,
  }) as const

const internal: Options = { audience: 'internal' }

/** Enough for any policy; each range costs Envoy a comparison per resolved address. */
const CIDRS_LIMIT = 256

export const SETTINGS = {
  proxyHost: withDefault(
    'AGW_PROXY_HOST',
    kinds.host,
    '127.0.0.1',
    'Address of the Envoy listener that agents call.',
  ),
  proxyPort: withDefault(
    'AGW_PROXY_PORT',
    kinds.port,
    '8080',
    'Port of the Envoy listener that agents call.',
  ),
  apiHost: withDefault('AGW_API_HOST', kinds.host, '127.0.0.1', 'Address of the admin service.'),
  apiPort: withDefault('AGW_API_PORT', kinds.port, '8081', 'Port of the admin service.'),
  redisUrl: optional('REDIS_URL', kinds.redisUrl, 'Redis or Valkey.', {
    shown_default: 'an embedded Valkey under the data directory',
  }),
  dataDir: withDefault(
    'AGW_DATA_DIR',
    kinds.path,
    '.agw',
    'Where the embedded defaults keep their state.',
  ),
  envoyBin: optional('ENVOY_BIN', kinds.executableFile, 'The Envoy binary.', {
    shown_default: 'found on PATH, else installed into the cache',
  }),
  valkeyBin: optional(
    'VALKEY_BIN',
    kinds.executableFile,
    'The valkey-server or redis-server binary.',
    {
      shown_default: 'found on PATH, else installed into the cache',
    },
  ),
  cacheDir: optional('AGW_CACHE_DIR', kinds.path, 'Where downloaded binaries are kept.', {
    shown_default: 'agw in the cache folder of the user',
  }),
  adminToken: optional('AGW_ADMIN_TOKEN', kinds.bearerToken, 'The first admin token.', {
    shown_default: 'made at first start, in admin-token in the data directory',
  }),
  adminEmail: withDefault(
    'AGW_ADMIN_EMAIL',
    kinds.email,
    'admin@localhost',
    'Whose the first admin token is.',
  ),
  encryptionKey: optional('AGW_ENCRYPTION_KEY', kinds.encryptionKeys, 'Seals stored credentials.', {
    shown_default: 'made at first start, in encryption-key in the data directory',
  }),
  organizationId: withDefault(
    'AGW_ORGANIZATION_ID',
    kinds.name,
    'org_default',
    'The default organization.',
  ),
  extProcWorkers: withDefault(
    'AGW_EXT_PROC_WORKERS',
    kinds.integer(1, 256),
    () => String(Math.max(1, availableParallelism() - 1)),
    'Number of ext-proc processes that the bundled start runs.',
    { shown_default: 'cores − 1, at least 1' },
  ),
  maxBodyBytes: withDefault(
    'AGW_MAX_BODY_BYTES',
    kinds.integer(65_536, 268_435_456),
    '8388608',
    'Largest request body that is held for scanning; a scope may set a lower one.',
  ),
  heldBodyTimeout_ms: withDefault(
    'AGW_HELD_BODY_TIMEOUT',
    kinds.duration,
    '30s',
    'How long a call may take to bring a body that is held for a decision.',
  ),
  tlsCertFile: optional(
    'AGW_TLS_CERT_FILE',
    kinds.readableFile,
    'Certificate chain of the proxy listener (PEM).',
  ),
  tlsKeyFile: optional(
    'AGW_TLS_KEY_FILE',
    kinds.readableFile,
    'Private key of the proxy listener (PEM).',
  ),
  trustedHops: withDefault(
    'AGW_TRUSTED_HOPS',
    kinds.integer(0, 16),
    '0',
    'How many proxies stand in front whose X-Forwarded-For is believed.',
  ),
  upstreamIdleTimeout_ms: withDefault(
    'AGW_UPSTREAM_IDLE_TIMEOUT',
    kinds.duration,
    '15m',
    'Longest silence of an upstream.',
  ),
  egressAllowCidrs: withDefault(
    'AGW_EGRESS_ALLOW_CIDRS',
    kinds.listOf(kinds.cidr, CIDRS_LIMIT),
    '',
    'Private ranges that an integration, or its token endpoint, may reach all the same.',
    { shown_default: 'none' },
  ),
  upstreamCaFile: optional(
    'AGW_UPSTREAM_CA_FILE',
    kinds.readableFile,
    'Extra CA for upstream TLS (PEM).',
    {
      shown_default: "the system's CAs",
    },
  ),
  webhookAllowCidrs: withDefault(
    'AGW_WEBHOOK_ALLOW_CIDRS',
    kinds.listOf(kinds.cidr, CIDRS_LIMIT),
    '',
    'Private ranges that a webhook may reach all the same.',
    { shown_default: 'none' },
  ),
  webhookDelays_ms: withDefault(
    'AGW_WEBHOOK_DELAYS',
    kinds.listOf(kinds.duration, 20),
    '0s,1m,5m,30m,2h',
    'Delivery attempts of a webhook: the wait before each, counted from the failure before.',
  ),
  smtpUrl: optional('AGW_SMTP_URL', kinds.smtpUrl, 'Mail server for alerts.'),
  alertEmailFrom: optional('AGW_ALERT_EMAIL_FROM', kinds.email, 'Sender of alerts.'),
  alertEmailTo: withDefault(
    'AGW_ALERT_EMAIL_TO',
    kinds.listOf(kinds.email, 50),
    '',
    'Receivers of alerts.',
    { shown_default: 'none' },
  ),
  activityStrict: withDefault(
    'AGW_ACTIVITY_STRICT',
    kinds.onOff,
    'off',
    'on: an allowed call is in the activity log before it goes on, without the status that only its end tells; it is refused while the log cannot be written.',
  ),
  activityMaxBytes: withDefault(
    'AGW_ACTIVITY_MAX_BYTES',
    kinds.integer(16_777_216, 1_099_511_627_776),
    '1073741824',
    'Bytes of the store that the activity logs of all organizations may take; never more than half of its maxmemory. The oldest entries go first.',
  ),
  activityRetention_ms: withDefault(
    'AGW_ACTIVITY_RETENTION',
    kinds.days,
    '30d',
    'How long entries can be searched in the activity log. The archive has its own time.',
  ),
  archiveDir: optional(
    'AGW_ARCHIVE_DIR',
    kinds.path,
    'Folder of the archive of the activity log: hour files of NDJSON, each line chained to the one before by a keyed hash.',
    { shown_default: 'archive in the data directory of `agw start`; off elsewhere' },
  ),
  archiveRetention_ms: optional(
    'AGW_ARCHIVE_RETENTION',
    kinds.days,
    'How long hour files of the archive are kept.',
    { shown_default: 'for ever' },
  ),
  edgeId: withDefault('AGW_EDGE_ID', kinds.name, hostName, 'Name of this edge.', {
    shown_default: 'host name',
  }),
  region: withDefault('AGW_REGION', kinds.name, 'local', 'Place of this edge.'),
  proxyAdmin: withDefault(
    'AGW_PROXY_ADMIN',
    kinds.onOff,
    'on',
    'Whether /admin on the proxy listener reaches the admin service.',
  ),
  extProcAddress: optional(
    'AGW_EXT_PROC_ADDRESS',
    kinds.extProcAddress,
    'Where ext-proc listens; further processes take the next port, or the socket name with -2, -3 before its extension. host:port needs the three TLS files.',
    { shown_default: 'sockets in the data directory' },
  ),
  accessLogAddress: optional(
    'AGW_ACCESS_LOG_ADDRESS',
    kinds.extProcAddress,
    "Where the receiver of Envoy's access log listens; ext-proc takes the log itself where there is none. host:port needs the three TLS files.",
    { shown_default: 'a socket in the data directory' },
  ),
  extProcTlsCertFile: optional(
    'AGW_EXT_PROC_TLS_CERT_FILE',
    kinds.readableFile,
    'Certificate that ext-proc and Envoy show each other (PEM).',
  ),
  extProcTlsKeyFile: optional(
    'AGW_EXT_PROC_TLS_KEY_FILE',
    kinds.readableFile,
    'Its private key (PEM).',
  ),
  extProcTlsCaFile: optional(
    'AGW_EXT_PROC_TLS_CA_FILE',
    kinds.readableFile,
    'The CA that both sides demand; it should sign for nothing else (PEM).',
  ),
  killLease_ms: withDefault(
    'AGW_KILL_LEASE_MS',
    kinds.integer(500, 60_000),
    '3000',
    'How long an edge may serve without proof that it still hears kills.',
  ),
  dnsResolvers: withDefault(
    'AGW_DNS_RESOLVERS',
    kinds.listOf(kinds.hostPort, 8),
    '',
    'DNS servers that are asked for the hosts of integrations, token endpoints and webhooks, as IP address and port.',
    { shown_default: "the system's" },
  ),
  echoPort: optional(
    'AGW_ECHO_PORT',
    kinds.port,
    'Port on 127.0.0.1 of the echo API that `agw start` runs to try things on.',
    { shown_default: '8082, or a free one where that is taken' },
  ),
  verdictSecret: optional(
    'AGW_VERDICT_SECRET',
    kinds.bearerToken,
    'What marks a passed call for the routes of Envoy; new with every boot.',
    internal,
  ),
  echoOrigin: optional(
    'AGW_ECHO_ORIGIN',
    kinds.httpOrigin,
    'Address of the echo API, which the egress filter exempts.',
    internal,
  ),
  adminSocket: optional(
    'AGW_ADMIN_SOCKET',
    kinds.path,
    'Unix socket on which the admin service listens for Envoy.',
    internal,
  ),
} as const

type Catalogue = typeof SETTINGS
type Value<R> = R extends { readonly kind: Kind<infer T>; readonly fallback: infer F }
  ? F extends null
    ? T | null
    : T
  : never

export type Settings = { readonly [Field in keyof Catalogue]: Value<Catalogue[Field]> }
export type Environment = Readonly<Record<string, string | undefined>>

const rows = Object.entries(SETTINGS) as ReadonlyArray<[keyof Settings, Row<unknown>]>

/** Reads and checks all settings; `faults` lists every one of them in full sentences, without secrets. */
export function readSettings(
  env: Environment,
):
  | { readonly ok: true; readonly settings: Settings }
  | { readonly ok: false; readonly faults: readonly string[] } {
  const faults: string[] = []
  const values: Partial<Record<keyof Settings, unknown>> = {}
  for (const [field, row] of rows) {
    const text = env[row.name]?.trim() || defaultText(row)
    if (text === null) {
      values[field] = null
      continue
    }
    const parsed = row.kind.parse(text)
    if (parsed.ok) values[field] = parsed.value
    else faults.push(`${row.name} ${parsed.fault}.`)
  }
  faults.push(...conflicts(values, env))
  return faults.length === 0 ? { ok: true, settings: values as Settings } : { ok: false, faults }
}

/** Settings that are set but that nothing acts on yet, and AGW_ variables that are none, each as a sentence. */
export function settingsNotInForce(env: Environment): readonly string[] {
  const notYet = rows
    .filter(([, row]) => !row.in_force && env[row.name]?.trim())
    .map(([, row]) => `${row.name} is set but not yet in force.`)
  const known = new Set<string>([...rows.map(([, row]) => row.name), ...CLIENT_VARIABLES])
  const unknown = Object.keys(env)
    .filter((name) => name.startsWith('AGW_') && !known.has(name))
    .map((name) => `${name} is not a setting of this gateway.`)
  return [...notYet, ...unknown]
}

/** What the command line reads for itself (contract §8). */
const CLIENT_VARIABLES = ['AGW_URL', 'AGW_TOKEN']

const defaultText = (row: Row<unknown>): string | null =>
  typeof row.fallback === 'function' ? row.fallback() : row.fallback

/** Faults that no setting has alone. A value that is missing because its text was faulty is not reported twice. */
function conflicts(values: Partial<Record<keyof Settings, unknown>>, env: Environment): string[] {
  const isSet = (field: keyof Settings): boolean => Boolean(env[SETTINGS[field].name]?.trim())
  const faults: string[] = []
  if (isSet('tlsCertFile') !== isSet('tlsKeyFile'))
    faults.push('AGW_TLS_CERT_FILE and AGW_TLS_KEY_FILE must be set together.')

  const tlsFiles = ['extProcTlsCertFile', 'extProcTlsKeyFile', 'extProcTlsCaFile'] as const
  const missing = tlsFiles.filter((field) => !isSet(field))
  const overTcp = (['extProcAddress', 'accessLogAddress'] as const).find((field) => {
    const address = values[field]
    return typeof address === 'string' && !address.startsWith('unix:')
  })
  if (missing.length > 0 && (overTcp !== undefined || missing.length < tlsFiles.length)) {
    const names = missing.map((field) => SETTINGS[field].name).join(', ')
    faults.push(
      overTcp !== undefined
        ? `${SETTINGS[overTcp].name} is a TCP address, which demands mutual TLS: ${names} missing.`
        : `The AGW_EXT_PROC_TLS_ files must be set together: ${names} missing.`,
    )
  }
  const { proxyPort, apiPort } = values
  const samePort = typeof proxyPort === 'number' && proxyPort === apiPort && proxyPort !== 0
  if (samePort && values.proxyHost === values.apiHost)
    faults.push('AGW_PROXY_PORT and AGW_API_PORT are the same port.')
  if (isSet('smtpUrl') && !(isSet('alertEmailFrom') && isSet('alertEmailTo')))
    faults.push('AGW_SMTP_URL needs AGW_ALERT_EMAIL_FROM and AGW_ALERT_EMAIL_TO.')
  if (Array.isArray(values.webhookDelays_ms) && values.webhookDelays_ms.length === 0)
    faults.push('AGW_WEBHOOK_DELAYS lists no attempt.')
  return faults
}

/** A host name as an edge id: what an id cannot hold becomes a dash. */
function hostName(): string {
  const text = hostname()
    .replace(/[^A-Za-z0-9_.-]/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
  return text.slice(0, 64) || 'edge'
}
