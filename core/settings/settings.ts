import { availableParallelism, hostname } from 'node:os'
import { EVENT_NAMES } from '../catalogue/events.ts'
import { parseReference } from '../credential/secret-reference.ts'
import * as kinds from './setting-kinds.ts'
import type { SettingKind } from './setting-kinds.ts'
import { readSecretFile } from './secret-file.ts'

/**
 * The catalogue of settings: every environment variable, including those that `agw start` sets for its children. The table in
 * docs/reference/settings.md is generated from it.
 */
interface Row<T> {
  readonly name: string
  readonly kind: SettingKind<T>
  /** The text used if the variable is unset or empty; null leaves the setting null. */
  readonly fallback: string | (() => string) | null
  /** The default as shown in the table, if it differs from the fallback. */
  readonly shown_default?: string | undefined
  readonly description: string
  /** Whether operators set it, or the launcher sets it for its children. */
  readonly audience: 'operator' | 'internal'
}

type Options = Partial<Pick<Row<unknown>, 'audience' | 'shown_default'>>

const withDefault = <T>(
  name: string,
  kind: SettingKind<T>,
  fallback: string | (() => string),
  description: string,
  options: Options = {},
) => ({ name, kind, fallback, description, audience: 'operator', ...options }) as const

const optional = <T>(
  name: string,
  kind: SettingKind<T>,
  description: string,
  options: Options = {},
) =>
  ({
    name,
    kind,
    fallback: null,
    description,
    audience: 'operator',
    ...options,
  }) as const

const internal: Options = { audience: 'internal' }

/** The reserve is written whole, and a larger one is more than a day of log. */
const RESERVE_BYTES_MAX = 17_179_869_184
/** Enough for any policy; each range costs Envoy a comparison per resolved address. */
const CIDRS_LIMIT = 256
/** More than one is already a disaster. */
const LOST_KEYS_LIMIT = 16
/** Each name costs a comparison per request of an operator. */
const HOSTS_LIMIT = 64

/** One for each kind of Envoy and each trust domain. */
const SANS_LIMIT = 32

/** With one edge its restart would interrupt service; more than eight need more memory than most machines give. */
const WORKERS_DEFAULT_MAX = 8

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
  proxyUrl: optional(
    'AGW_PROXY_URL',
    kinds.httpUrl,
    'How agents reach the proxy listener: the address in links that are rewritten. If it is not set, the address that the caller used.',
  ),
  proxyProbeUrl: optional(
    'AGW_PROXY_PROBE_URL',
    kinds.httpUrl,
    'URL at which the admin service (/readyz) and agw doctor test whether calls of agents reach ext-proc, if agents call a listener of your own: http://HOST:PORT/https:/, where HOST is a name of the virtual host that contains the gateway.',
    { shown_default: 'the listener of AGW_PROXY_HOST and AGW_PROXY_PORT' },
  ),
  forwardPort: withDefault(
    'AGW_FORWARD_PORT',
    kinds.portOrOff,
    '8083',
    'Port of the forward proxy, on the address of the Envoy listener, for agents that set only HTTPS_PROXY; off disables it.',
  ),
  forwardTls: withDefault(
    'AGW_FORWARD_TLS',
    kinds.onOff,
    'off',
    'Whether clients speak TLS to the forward proxy itself (HTTPS_PROXY=https://…), with the certificate of AGW_TLS_CERT_FILE.',
  ),
  forwardBlindHosts: withDefault(
    'AGW_FORWARD_BLIND_HOSTS',
    kinds.listOf(kinds.hostPort, HOSTS_LIMIT),
    '',
    'Hosts, each with its port, whose tunnels the forward proxy passes through without decrypting them: no scope applies, no credential is added. A host of an integration is never passed through.',
    { shown_default: 'none' },
  ),
  forwardTunnelsPerAgent: withDefault(
    'AGW_FORWARD_TUNNELS_PER_AGENT',
    kinds.integer(1, 10_000),
    '256',
    'Tunnels of the forward proxy that one agent may have open in each ext-proc process.',
  ),
  forwardConnectsPerMinute: withDefault(
    'AGW_FORWARD_CONNECTS_PER_MINUTE',
    kinds.integer(1, 1_000_000),
    '1200',
    'Tunnels of the forward proxy that one agent may open in a minute, across all edges.',
  ),
  caCertFile: optional(
    'AGW_CA_CERT_FILE',
    kinds.readableFile,
    'CA whose certificates the forward proxy presents to agents (PEM; first the CA itself, then the chain to its root).',
    { shown_default: 'a CA that the gateway creates at its first start and stores encrypted' },
  ),
  caKeyFile: optional(
    'AGW_CA_KEY_FILE',
    kinds.readableFile,
    'Private key of AGW_CA_CERT_FILE (PEM, EC or RSA, unencrypted).',
    { shown_default: 'none' },
  ),
  apiHost: withDefault('AGW_API_HOST', kinds.host, '127.0.0.1', 'Address of the admin service.'),
  apiPort: withDefault('AGW_API_PORT', kinds.port, '8081', 'Port of the admin service.'),
  apiUrl: optional(
    'AGW_API_URL',
    kinds.httpUrl,
    'How operators reach the admin service: the address in links of e-mails, chat messages and refusals.',
    { shown_default: 'the listener of AGW_API_HOST and AGW_API_PORT' },
  ),
  apiAllowedHosts: withDefault(
    'AGW_API_ALLOWED_HOSTS',
    kinds.listOf(kinds.hostPattern, HOSTS_LIMIT),
    '',
    'Host names that clients use for the admin service, such as agw.example.com or *.internal. IP addresses, localhost, the host name of the machine and AGW_API_HOST are always allowed.',
    { shown_default: 'none' },
  ),
  redisUrl: optional('REDIS_URL', kinds.redisUrl, 'Address of Redis or Valkey.', {
    shown_default: 'an embedded Valkey under the data directory',
  }),
  redisTlsCaFile: optional(
    'REDIS_TLS_CA_FILE',
    kinds.readableFile,
    'CA of the store and its Sentinels (PEM), instead of the public CAs. This file and the next two are read again for each new connection.',
    { shown_default: 'the public CAs of Node.js' },
  ),
  redisTlsCertFile: optional(
    'REDIS_TLS_CERT_FILE',
    kinds.readableFile,
    'Client certificate for the store and its Sentinels (PEM).',
  ),
  redisTlsKeyFile: optional(
    'REDIS_TLS_KEY_FILE',
    kinds.readableFile,
    'Private key of REDIS_TLS_CERT_FILE (PEM).',
  ),
  redisTlsServerName: optional(
    'REDIS_TLS_SERVER_NAME',
    kinds.host,
    'Name that the certificate of the store must contain, where a cluster or Sentinels announce IP addresses.',
    { shown_default: 'the host of each connection' },
  ),
  redisSentinelUsername: optional(
    'REDIS_SENTINEL_USERNAME',
    kinds.text,
    'User name for the Sentinels. The one in REDIS_URL is for the store.',
  ),
  redisSentinelPassword: optional(
    'REDIS_SENTINEL_PASSWORD',
    kinds.secretText,
    'Password for the Sentinels. The one in REDIS_URL is for the store.',
  ),
  redisSentinelTls: optional(
    'REDIS_SENTINEL_TLS',
    kinds.onOff,
    'Whether connections to the Sentinels use TLS; needed only if the store differs.',
    { shown_default: 'on with rediss+sentinel://' },
  ),
  dataDir: withDefault(
    'AGW_DATA_DIR',
    kinds.path,
    '.agw',
    'Data directory of agw start: sockets, the embedded store, generated keys and tokens, the archive.',
  ),
  envoyBin: optional('ENVOY_BIN', kinds.executableFile, 'The Envoy binary.', {
    shown_default: 'found on PATH, or installed into the cache',
  }),
  valkeyBin: optional(
    'VALKEY_BIN',
    kinds.executableFile,
    'The valkey-server or redis-server binary.',
    {
      shown_default: 'found on PATH, or installed into the cache',
    },
  ),
  cacheDir: optional('AGW_CACHE_DIR', kinds.path, 'Directory for downloaded binaries.', {
    shown_default: "agw in the user's cache directory",
  }),
  adminToken: optional('AGW_ADMIN_TOKEN', kinds.adminToken, 'The first admin token.', {
    shown_default:
      'generated at first start, if the store has no admin token, and stored in admin-token in the data directory',
  }),
  adminEmail: withDefault(
    'AGW_ADMIN_EMAIL',
    kinds.email,
    'admin@localhost',
    'E-mail address that the first admin token belongs to.',
  ),
  encryptionKey: optional(
    'AGW_ENCRYPTION_KEY',
    kinds.encryptionKeys,
    'Key that encrypts stored credentials. The first one encrypts, all of them decrypt. agw also takes a reference, such as vault:kv/data/gateway#key, and reads it once when it starts.',
    {
      shown_default: 'generated at first start and stored in encryption-key in the data directory',
    },
  ),
  lostEncryptionKeys: withDefault(
    'AGW_LOST_ENCRYPTION_KEYS',
    // Somebody may put the key itself here.
    kinds.listOf(kinds.keyId, LOST_KEYS_LIMIT, false),
    '',
    'Ids of encryption keys that are lost. The gateway then starts without them; what they encrypt must be set again.',
    { shown_default: 'none' },
  ),
  organizationId: withDefault(
    'AGW_ORGANIZATION_ID',
    kinds.name,
    'org_default',
    'Id of the default organization, whose admin tokens manage the deployment.',
  ),
  extProcWorkers: withDefault(
    'AGW_EXT_PROC_WORKERS',
    kinds.integer(1, 256),
    () => String(Math.min(WORKERS_DEFAULT_MAX, Math.ceil(availableParallelism() / 2) + 1)),
    'Number of ext-proc processes that agw start runs. As many as Envoy has threads decide calls, but at least one stands by.',
    { shown_default: `half of the cores, rounded up, and 1; at most ${WORKERS_DEFAULT_MAX}` },
  ),
  extProcTransport: withDefault(
    'AGW_EXT_PROC_TRANSPORT',
    kinds.extProcTransport,
    'built-in',
    'What speaks HTTP/2 and gRPC with Envoy: `built-in`, or the packages of gRPC, which take more CPU time a call.',
  ),
  envoyConcurrency: withDefault(
    'AGW_ENVOY_CONCURRENCY',
    kinds.integer(1, 256),
    // More than half of the CPU time of a call is Envoy's. With more threads it reads and writes less per wake-up.
    () => String(Math.ceil(availableParallelism() / 2)),
    'Number of worker threads of the Envoy that agw start runs (its --concurrency).',
    { shown_default: 'half of the cores, rounded up' },
  ),
  watchdogTimeout_ms: withDefault(
    'AGW_WATCHDOG_TIMEOUT',
    kinds.durationBetween('1s', '10m'),
    '10s',
    'agw start kills and restarts a process that has not answered for this long; the embedded store gets three times as long.',
  ),
  drainTimeout_ms: withDefault(
    'AGW_DRAIN_TIMEOUT',
    kinds.durationBetween('1s', '1h'),
    '30s',
    'How long an ext-proc process that is restarted, or receives SIGTERM, waits for its calls before it cuts them. A stop of agw start waits at most 5 seconds.',
  ),
  maxBodyBytes: withDefault(
    'AGW_MAX_BODY_BYTES',
    kinds.integer(65_536, 268_435_456),
    '8388608',
    'Largest request body that is buffered for inspection; a scope can set a lower limit.',
  ),
  heldBodyBytesPerAgent: withDefault(
    'AGW_HELD_BODY_BYTES_PER_AGENT',
    kinds.integer(65_536, 17_179_869_184),
    '134217728',
    'Bytes of request bodies of one agent that are buffered for inspection at a time, per ext-proc process; further calls are refused with 429. A body without a length counts as the largest allowed.',
  ),
  heldBodyBytesPerOrganization: withDefault(
    'AGW_HELD_BODY_BYTES_PER_ORGANIZATION',
    kinds.integer(65_536, 17_179_869_184),
    '536870912',
    'The same for all agents of an organization together.',
  ),
  heldBodyTimeout_ms: withDefault(
    'AGW_HELD_BODY_TIMEOUT',
    kinds.duration,
    '30s',
    'Maximum time to receive a request body that is buffered for inspection.',
  ),
  approvalMaxWait_ms: withDefault(
    'AGW_APPROVAL_MAX_WAIT',
    kinds.durationBetween('0s', '30m'),
    '300s',
    'How long a call may wait for the decision of a person, whatever it or its rule asks for; 0s: no call waits.',
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
    'Number of trusted proxies in front of the listener. Their X-Forwarded-For determines the client address.',
  ),
  upstreamIdleTimeout_ms: withDefault(
    'AGW_UPSTREAM_IDLE_TIMEOUT',
    kinds.duration,
    '15m',
    'Maximum time without any data from an upstream before the call fails.',
  ),
  upstreamPoolIdleTimeout_ms: withDefault(
    'AGW_UPSTREAM_POOL_IDLE_TIMEOUT',
    kinds.durationBetween('100ms', '1h'),
    '4s',
    'How long an unused connection to an API is kept for the next call. Set it below the idle timeout of the APIs (Node.js: 5s); otherwise a POST may be sent on a connection that the API is closing.',
  ),
  egressAllowCidrs: withDefault(
    'AGW_EGRESS_ALLOW_CIDRS',
    kinds.listOf(kinds.cidr, CIDRS_LIMIT),
    '',
    'Private CIDR ranges that integrations and token endpoints may connect to (denied by default). The configuration of Envoy contains them: render and install it again after a change.',
    { shown_default: 'none' },
  ),
  egressProxy: optional(
    'AGW_EGRESS_PROXY',
    kinds.proxyUrl,
    'HTTP proxy through which the gateway connects to APIs, token endpoints, webhooks and the receivers of the log and of traces, with CONNECT. The configuration of Envoy contains it: render and install it again after a change.',
    { shown_default: 'none' },
  ),
  egressNoProxy: withDefault(
    'AGW_EGRESS_NO_PROXY',
    kinds.listOf(kinds.noProxyItem, CIDRS_LIMIT),
    '',
    'Hosts that are connected to without AGW_EGRESS_PROXY, in addition to localhost and loopback addresses. A domain includes its subdomains; one that begins with a dot, only these.',
    { shown_default: 'none' },
  ),
  egressProxyResolves: withDefault(
    'AGW_EGRESS_PROXY_RESOLVES',
    kinds.trueOrFalse,
    'false',
    'true: this host cannot resolve public names, so names are not checked here, and AGW_EGRESS_PROXY must refuse private, loopback, link-local and metadata addresses. agw doctor tries it.',
  ),
  secretRefs: withDefault(
    'AGW_SECRET_REFS',
    kinds.secretRefs,
    '{}',
    'What the secret members of credentials may refer to in place of a value, by organization: {"org_default": ["env:AGW_SECRET_", "file:/run/secrets/"]}. env: is for variables that begin with AGW_SECRET_, file: for the files in one folder, vault: and aws-sm: for what is below a path. Set it, the variables and the files for the admin service and for each ext-proc process.',
    { shown_default: 'none' },
  ),
  vaultUrl: optional(
    'AGW_VAULT_ADDR',
    kinds.httpUrl,
    'Vault or OpenBao for references that begin with vault:, such as https://vault.internal:8200.',
  ),
  vaultToken: optional(
    'AGW_VAULT_TOKEN',
    kinds.secretText,
    'Token that may read the secrets. AGW_VAULT_TOKEN_FILE is read for each request, so that Vault Agent can renew it.',
  ),
  vaultNamespace: optional('AGW_VAULT_NAMESPACE', kinds.text, 'Namespace of the secrets.'),
  awsRegion: optional(
    'AGW_AWS_REGION',
    kinds.text,
    'Region of AWS Secrets Manager, for references that begin with aws-sm:.',
  ),
  awsAccessKeyId: optional(
    'AGW_AWS_ACCESS_KEY_ID',
    kinds.text,
    'Key that may call GetSecretValue of these secrets.',
  ),
  awsSecretAccessKey: optional('AGW_AWS_SECRET_ACCESS_KEY', kinds.secretText, 'Its secret.'),
  awsSessionToken: optional('AGW_AWS_SESSION_TOKEN', kinds.secretText, 'Its session token.'),
  awsSecretsUrl: optional(
    'AGW_AWS_SECRETS_URL',
    kinds.httpUrl,
    'Endpoint of Secrets Manager, such as that of a VPC.',
    { shown_default: 'that of the region' },
  ),
  upstreamCaFile: optional(
    'AGW_UPSTREAM_CA_FILE',
    kinds.readableFile,
    'Additional CA for upstream TLS (PEM).',
    {
      shown_default: "the system's CAs",
    },
  ),
  webhookAllowCidrs: withDefault(
    'AGW_WEBHOOK_ALLOW_CIDRS',
    kinds.listOf(kinds.cidr, CIDRS_LIMIT),
    '',
    'Private CIDR ranges that webhooks may connect to (denied by default).',
    { shown_default: 'none' },
  ),
  webhookDelays_ms: withDefault(
    'AGW_WEBHOOK_DELAYS',
    kinds.listOf(kinds.duration, 20),
    '0s,1m,5m,30m,2h',
    'Delay before each webhook delivery attempt, counted from the previous failure. The number of delays is the number of attempts.',
  ),
  smtpUrl: optional(
    'AGW_SMTP_URL',
    kinds.smtpUrl,
    'Mail server for alerts. Requires AGW_ALERT_EMAIL_FROM and AGW_ALERT_EMAIL_TO.',
  ),
  alertEmailFrom: optional('AGW_ALERT_EMAIL_FROM', kinds.email, 'Sender of alert e-mails.'),
  alertEmailTo: withDefault(
    'AGW_ALERT_EMAIL_TO',
    kinds.listOf(kinds.email, 50),
    '',
    'Recipients of alert e-mails.',
    { shown_default: 'none' },
  ),
  activityStrict: withDefault(
    'AGW_ACTIVITY_STRICT',
    kinds.onOff,
    'off',
    'on: an allowed call is logged before it is forwarded, without its final status, and is refused while the log cannot be written.',
  ),
  activityMaxBytes: withDefault(
    'AGW_ACTIVITY_MAX_BYTES',
    kinds.integer(16_777_216, 1_099_511_627_776),
    '1073741824',
    'Maximum size of all activity logs in the store, never more than half of its maxmemory. The oldest entries are deleted first.',
  ),
  activityRetention_ms: withDefault(
    'AGW_ACTIVITY_RETENTION',
    kinds.days,
    '30d',
    'How long entries stay in the store at most; they are deleted earlier when AGW_ACTIVITY_MAX_BYTES is reached. The archive, which is searched for older ones, has its own retention.',
  ),
  archiveDir: optional(
    'AGW_ARCHIVE_DIR',
    kinds.path,
    'Directory of the activity archive: hourly NDJSON files, each line chained to the previous one by a keyed hash.',
    { shown_default: 'archive in the data directory of `agw start`; not set elsewhere' },
  ),
  deploymentIdFile: optional(
    'AGW_DEPLOYMENT_ID_FILE',
    kinds.path,
    'File in which the admin service records the identity of its store, so that a start detects an empty, different or older one.',
    { shown_default: 'deployment-id in the data directory of `agw start`; not set elsewhere' },
  ),
  doctorPassFile: optional(
    'AGW_DOCTOR_PASS_FILE',
    kinds.path,
    'File that `agw doctor --envoy-admin` writes when no check of Envoy has failed, and removes when one fails. Without the file, ext-proc attaches no credential: calls that need one get 502 credential_unavailable.',
    { shown_default: 'not set' },
  ),
  diskReserveFile: optional(
    'AGW_DISK_RESERVE_FILE',
    kinds.path,
    'File that reserves space on the disk of the store; it must be on that disk. When the disk is full, the file is shortened, so that kills and reactivations work.',
    {
      shown_default:
        'reserve in the data directory of `agw start`, if it runs the store; not set elsewhere',
    },
  ),
  diskReserveBytes: withDefault(
    'AGW_DISK_RESERVE_BYTES',
    kinds.integer(0, RESERVE_BYTES_MAX),
    '67108864',
    'Size of AGW_DISK_RESERVE_FILE; 0 turns it off. Half of it is given up when the disk is full, the rest in pieces of 1 MiB for kills and reactivations.',
  ),
  archiveMaxBytes: withDefault(
    'AGW_ARCHIVE_MAX_BYTES',
    kinds.integer(1_048_576, Number.MAX_SAFE_INTEGER),
    '53687091200',
    'Maximum size of the archive. Beyond it the oldest hourly files are deleted, and an alert says so.',
  ),
  archiveMinFreeBytes: withDefault(
    'AGW_ARCHIVE_MIN_FREE_BYTES',
    kinds.integer(0, Number.MAX_SAFE_INTEGER),
    '2147483648',
    'Free space that the archive leaves on its disk, which may be that of the store. Below it archiving stops with an alert, and continues when there is space again.',
  ),
  archiveRetention_ms: withDefault(
    'AGW_ARCHIVE_RETENTION',
    kinds.daysOrForever,
    '400d',
    'How long archive files are kept; they are deleted earlier when AGW_ARCHIVE_MAX_BYTES is reached.',
  ),
  logExportUrl: optional(
    'AGW_LOG_EXPORT_URL',
    kinds.logReceiverUrl,
    'Receiver to which the admin service exports the activity logs of all organizations: an OTLP/HTTP endpoint for logs.',
    { shown_default: 'not set' },
  ),
  logExportHeaders: withDefault(
    'AGW_LOG_EXPORT_HEADERS',
    kinds.httpHeaders,
    '',
    'Headers of each request to AGW_LOG_EXPORT_URL, such as Authorization=Bearer%20TOKEN.',
    { shown_default: 'none' },
  ),
  logExportEvents: withDefault(
    'AGW_LOG_EXPORT_EVENTS',
    kinds.events,
    () => EVENT_NAMES.join(','),
    'Events that are exported; entries with other events are left out.',
    { shown_default: 'all' },
  ),
  traceUrl: optional(
    'AGW_TRACE_URL',
    kinds.httpUrl,
    'OTLP/HTTP endpoint for traces to which each ext-proc process exports spans of sampled calls, its own and those of Envoy.',
    { shown_default: 'not set' },
  ),
  traceHeaders: withDefault(
    'AGW_TRACE_HEADERS',
    kinds.httpHeaders,
    '',
    'Headers of each request to AGW_TRACE_URL, in the form of AGW_LOG_EXPORT_HEADERS.',
    { shown_default: 'none' },
  ),
  traceSample: withDefault(
    'AGW_TRACE_SAMPLE',
    kinds.percent,
    '1',
    'Percentage of calls that the Envoy of this gateway traces. A caller cannot change it. In an Envoy of your own, its own tracing decides.',
  ),
  edgeId: withDefault(
    'AGW_EDGE_ID',
    kinds.name,
    hostName,
    'Name of this edge. It must differ from those of all other hosts.',
    {
      shown_default: 'host name',
    },
  ),
  region: withDefault(
    'AGW_REGION',
    kinds.name,
    'local',
    'Region of this edge, as receipts and lists of edges show it.',
  ),
  proxyAdmin: withDefault(
    'AGW_PROXY_ADMIN',
    kinds.onOff,
    'on',
    'Whether the proxy listener serves /admin.',
  ),
  requireOpenStreams: withDefault(
    'AGW_REQUIRE_OPEN_STREAMS',
    kinds.onOff,
    'off',
    'on: calls from an Envoy that closes ext_proc streams before the response has ended are refused with 503, because a kill could not cut them. Needed only if you configure Envoy yourself.',
  ),
  extProcAddress: optional(
    'AGW_EXT_PROC_ADDRESS',
    kinds.extProcAddress,
    'Address of ext-proc. Additional processes use the next port, or the socket name with -2, -3 before its extension. host:port requires the three TLS files.',
    { shown_default: 'sockets in the data directory' },
  ),
  accessLogAddress: optional(
    'AGW_ACCESS_LOG_ADDRESS',
    kinds.extProcAddress,
    "Address of the receiver of Envoy's access log. Without one, ext-proc receives the log. host:port requires the three TLS files.",
    { shown_default: 'a socket in the data directory' },
  ),
  extProcTlsCertFile: optional(
    'AGW_EXT_PROC_TLS_CERT_FILE',
    kinds.readableFile,
    'Certificate that ext-proc and Envoy present to each other (PEM).',
  ),
  extProcTlsKeyFile: optional(
    'AGW_EXT_PROC_TLS_KEY_FILE',
    kinds.readableFile,
    'Private key of AGW_EXT_PROC_TLS_CERT_FILE (PEM).',
  ),
  extProcTlsCaFile: optional(
    'AGW_EXT_PROC_TLS_CA_FILE',
    kinds.readableFile,
    'CA that both sides trust (PEM). It should sign no other certificates. ext-proc and the access log receiver read these three files again when they change.',
  ),
  extProcTlsClientSans: withDefault(
    'AGW_EXT_PROC_TLS_CLIENT_SANS',
    kinds.listOf(kinds.subjectAltName, SANS_LIMIT),
    '',
    'Subject alternative names (DNS name, IP address or URI) of the Envoys that may connect to ext-proc and the access log receiver. Without any, every certificate of the CA may.',
    { shown_default: 'all' },
  ),
  extProcTlsServerSans: withDefault(
    'AGW_EXT_PROC_TLS_SERVER_SANS',
    kinds.listOf(kinds.subjectAltName, SANS_LIMIT),
    '',
    'Subject alternative names that Envoy accepts in the certificates of ext-proc and the access log receiver.',
    { shown_default: 'all' },
  ),
  healthAddress: optional(
    'AGW_HEALTH_ADDRESS',
    kinds.hostPort,
    'Address on which an ext-proc process or the access log receiver serves /healthz, /readyz and /metrics over plain HTTP, for the probes of Kubernetes and for Prometheus. agw start does not pass it on to its processes.',
  ),
  verdictSecrets: optional(
    'AGW_VERDICT_SECRET',
    kinds.verdictSecrets,
    'Secret header value that marks an allowed call for the routes of Envoy. ext-proc and agw envoy-config need the same one. Of several, ext-proc uses the first and Envoy accepts all.',
    { shown_default: 'generated at each start by `agw start`' },
  ),
  adminSocket: optional(
    'AGW_ADMIN_SOCKET',
    kinds.path,
    'Unix socket on which the admin service also listens, for the /admin route of the proxy listener.',
    { shown_default: 'a socket in the data directory of `agw start`; not set elsewhere' },
  ),
  killLease_ms: withDefault(
    'AGW_KILL_LEASE_MS',
    kinds.integer(500, 60_000),
    '3000',
    'Liveness lease: how long an edge may serve without proof that it receives kills (ms). Below 2500, Envoy may detect an edge that hangs only after its lease has expired.',
  ),
  dnsResolvers: withDefault(
    'AGW_DNS_RESOLVERS',
    kinds.listOf(kinds.hostPort, 8),
    '',
    'DNS servers for the hosts of integrations, token endpoints and webhooks, as IP address and port.',
    { shown_default: "the system's" },
  ),
  echoPort: optional(
    'AGW_ECHO_PORT',
    kinds.port,
    'Port (on 127.0.0.1) of the echo API that agw start runs for testing.',
    { shown_default: '8082, or a free port if that is in use' },
  ),
  apiFd: optional(
    'AGW_API_FD',
    kinds.integer(3, 1_023),
    'Listening socket of the admin service, inherited from agw start, so that it outlives a process of the admin service.',
    internal,
  ),
  adminSocketFd: optional(
    'AGW_ADMIN_SOCKET_FD',
    kinds.integer(3, 1_023),
    'The same for AGW_ADMIN_SOCKET.',
    internal,
  ),
  extProcFd: optional(
    'AGW_EXT_PROC_FD',
    kinds.integer(3, 1_023),
    'The same for AGW_EXT_PROC_ADDRESS, where there is one ext-proc process: calls wait in it for the next one.',
    internal,
  ),
  edgeBoot: optional(
    'AGW_EDGE_BOOT',
    kinds.name,
    'Set by agw start to the same random value for all starts of a child, since it runs one process of that name at a time. Otherwise each process makes its own.',
    internal,
  ),
  edgeStandby: withDefault(
    'AGW_EDGE_STANDBY',
    kinds.trueOrFalse,
    'false',
    'Whether Envoy sends calls to this process only while no other is healthy.',
    internal,
  ),
  generatedAdminToken: optional(
    'AGW_GENERATED_ADMIN_TOKEN',
    kinds.adminToken,
    'The token that agw start has generated for a store that may be shared. It is used only if the store has no admin token.',
    internal,
  ),
  echoOrigin: optional(
    'AGW_ECHO_ORIGIN',
    kinds.httpOrigin,
    'Address of the echo API, exempt from the egress filter.',
    internal,
  ),
} as const

type Catalogue = typeof SETTINGS
type Value<R> = R extends { readonly kind: SettingKind<infer T>; readonly fallback: infer F }
  ? F extends null
    ? T | null
    : T
  : never

export type Settings = { readonly [Field in keyof Catalogue]: Value<Catalogue[Field]> } & {
  /** The file that AGW_ENCRYPTION_KEY_FILE names, which is followed for changes; null without one. */
  readonly encryptionKeyFile: string | null
  /** The file that AGW_VAULT_TOKEN_FILE names; null without one. */
  readonly vaultTokenFile: string | null
}
export type Environment = Readonly<Record<string, string | undefined>>

const rows = Object.entries(SETTINGS) as ReadonlyArray<[keyof Catalogue, Row<unknown>]>

/**
 * The environment without a secret setting, in both forms: for a child that gets a value of its own, or none.
 */
export function withoutSecrets(env: Environment, names: readonly string[]): Environment {
  const dropped = new Set(names.flatMap((name) => [name, `${name}_FILE`]))
  return Object.fromEntries(Object.entries(env).filter(([name]) => !dropped.has(name)))
}

/**
 * Reads and checks all settings; `problems` lists every problem as a full sentence, without secrets.
 * @param files `elsewhere` if the files that settings name, other than those of secrets, are on another machine
 */
export function readSettings(
  env: Environment,
  files: 'here' | 'elsewhere' = 'here',
):
  | { readonly ok: true; readonly settings: Settings }
  | { readonly ok: false; readonly problems: readonly string[] } {
  const problems: string[] = []
  const values: Partial<Record<keyof Settings, unknown>> = {
    encryptionKeyFile: env['AGW_ENCRYPTION_KEY_FILE']?.trim() || null,
    vaultTokenFile: env['AGW_VAULT_TOKEN_FILE']?.trim() || null,
  }
  const given = new Set<string>()
  for (const [field, row] of rows) {
    const found = givenText(row, env)
    if (!found.ok) problems.push(found.problem)
    if (!found.ok || found.value !== null) given.add(row.name)
    if (!found.ok) continue
    const text = found.value ?? defaultText(row)
    if (text === null) {
      values[field] = null
      continue
    }
    const kind = files === 'elsewhere' && row.kind.is_file === true ? kinds.path : row.kind
    const parsed = kind.parse(text)
    if (parsed.ok) values[field] = parsed.value
    else problems.push(`${sourceOf(row, env)} ${parsed.problem}.`)
  }
  problems.push(...conflicts(values, given))
  return problems.length === 0
    ? { ok: true, settings: values as Settings }
    : { ok: false, problems }
}

/** The variable that names a file with the value of a secret setting; null for settings that are not secret. */
const fileVariable = ({ name, kind }: Row<unknown>): string | null =>
  kind.is_secret === true ? `${name}_FILE` : null

/** The value set by the operator, in the variable itself or in the file that its `_FILE` variable names. */
function givenText(
  row: Row<unknown>,
  env: Environment,
):
  | { readonly ok: true; readonly value: string | null }
  | { readonly ok: false; readonly problem: string } {
  const text = env[row.name]?.trim() || null
  const variable = fileVariable(row)
  const file = variable === null ? null : env[variable]?.trim() || null
  if (file === null) return { ok: true, value: text }
  if (text !== null)
    return { ok: false, problem: `${row.name} and ${variable} are both set. Set only one of them.` }
  const read = readSecretFile(file)
  return read.ok ? read : { ok: false, problem: `${variable} ${read.problem}.` }
}

const sourceOf = (row: Row<unknown>, env: Environment): string => {
  const variable = fileVariable(row)
  const file = variable === null ? '' : (env[variable]?.trim() ?? '')
  return file === '' ? row.name : `The content of ${variable} (${file})`
}

/** What a credential may refer to. */
const isSecret = (name: string): boolean => parseReference(`env:${name}`) !== null

/** AGW_ variables that are not settings, each as a sentence. */
export function unknownSettings(env: Environment): readonly string[] {
  const known = new Set<string | null>([
    ...rows.flatMap(([, row]) => [row.name, fileVariable(row)]),
    ...CLIENT_VARIABLES,
  ])
  return Object.keys(env)
    .filter((name) => name.startsWith('AGW_') && !known.has(name) && !isSecret(name))
    .map((name) => `${name} is not a setting of this gateway.`)
}

/** Variables that the command line itself reads. */
const CLIENT_VARIABLES = [
  'AGW_URL',
  'AGW_TOKEN',
  'AGW_KEY',
  'AGW_BACKUP_PASSPHRASE',
  'AGW_BACKUP_PASSPHRASE_FILE',
]

const defaultText = (row: Row<unknown>): string | null =>
  typeof row.fallback === 'function' ? row.fallback() : row.fallback

/** Errors of combinations of settings. A value that is missing because its text was invalid is not reported twice. */
function conflicts(
  values: Partial<Record<keyof Settings, unknown>>,
  given: ReadonlySet<string>,
): string[] {
  const isSet = (field: keyof Catalogue): boolean => given.has(SETTINGS[field].name)
  const problems: string[] = []
  if (isSet('tlsCertFile') !== isSet('tlsKeyFile'))
    problems.push('AGW_TLS_CERT_FILE and AGW_TLS_KEY_FILE must be set together.')

  const tlsFiles = ['extProcTlsCertFile', 'extProcTlsKeyFile', 'extProcTlsCaFile'] as const
  const missing = tlsFiles.filter((field) => !isSet(field))
  const overTcp = (['extProcAddress', 'accessLogAddress'] as const).find((field) => {
    const address = values[field]
    return typeof address === 'string' && !address.startsWith('unix:')
  })
  if (missing.length > 0 && (overTcp !== undefined || missing.length < tlsFiles.length)) {
    const names = missing.map((field) => SETTINGS[field].name).join(', ')
    problems.push(
      overTcp !== undefined
        ? `${SETTINGS[overTcp].name} is a TCP address, which requires mTLS: ${names} missing.`
        : `The AGW_EXT_PROC_TLS_ files must be set together: ${names} missing.`,
    )
  }
  problems.push(...storeConflicts(values, isSet), ...forwardConflicts(values, isSet))
  const { proxyPort, apiPort } = values
  const samePort = typeof proxyPort === 'number' && proxyPort === apiPort && proxyPort !== 0
  if (samePort && values.proxyHost === values.apiHost)
    problems.push('AGW_PROXY_PORT and AGW_API_PORT must be different.')
  if (isSet('smtpUrl') && !(isSet('alertEmailFrom') && isSet('alertEmailTo')))
    problems.push('AGW_SMTP_URL requires AGW_ALERT_EMAIL_FROM and AGW_ALERT_EMAIL_TO.')
  for (const [option, url] of [
    ['logExportHeaders', 'logExportUrl'],
    ['logExportEvents', 'logExportUrl'],
    ['traceHeaders', 'traceUrl'],
    ['traceSample', 'traceUrl'],
    ['egressNoProxy', 'egressProxy'],
    ['egressProxyResolves', 'egressProxy'],
    ['vaultUrl', 'vaultToken'],
    ['vaultToken', 'vaultUrl'],
    ['vaultNamespace', 'vaultUrl'],
    ['awsRegion', 'awsAccessKeyId'],
    ['awsAccessKeyId', 'awsSecretAccessKey'],
    ['awsSecretAccessKey', 'awsRegion'],
    ['awsSessionToken', 'awsRegion'],
    ['awsSecretsUrl', 'awsRegion'],
  ] as const)
    if (isSet(option) && !isSet(url))
      problems.push(`${SETTINGS[option].name} requires ${SETTINGS[url].name}.`)
  if (Array.isArray(values.webhookDelays_ms) && values.webhookDelays_ms.length === 0)
    problems.push('AGW_WEBHOOK_DELAYS must list at least one delay.')
  return problems
}

function forwardConflicts(
  {
    forwardPort,
    forwardTls,
    proxyPort,
    apiPort,
    proxyHost,
    apiHost,
  }: Partial<Record<keyof Settings, unknown>>,
  isSet: (field: keyof Catalogue) => boolean,
): string[] {
  const problems: string[] = []
  if (isSet('caCertFile') !== isSet('caKeyFile'))
    problems.push('AGW_CA_CERT_FILE and AGW_CA_KEY_FILE must be set together.')
  if (forwardTls === true && !isSet('tlsCertFile'))
    problems.push('AGW_FORWARD_TLS requires AGW_TLS_CERT_FILE and AGW_TLS_KEY_FILE.')
  if (typeof forwardPort !== 'number' || forwardPort === 0) return problems
  if (forwardPort === proxyPort)
    problems.push('AGW_FORWARD_PORT (8083 if unset; or off) and AGW_PROXY_PORT must be different.')
  if (forwardPort === apiPort && proxyHost === apiHost)
    problems.push('AGW_FORWARD_PORT (8083 if unset; or off) and AGW_API_PORT must be different.')
  return problems
}

/** Settings of the connection to the store that its address does not use. */
function storeConflicts(
  { redisUrl }: Partial<Record<keyof Settings, unknown>>,
  isSet: (field: keyof Catalogue) => boolean,
): string[] {
  const problems: string[] = []
  if (isSet('redisTlsCertFile') !== isSet('redisTlsKeyFile'))
    problems.push('REDIS_TLS_CERT_FILE and REDIS_TLS_KEY_FILE must be set together.')
  const url = typeof redisUrl === 'string' ? redisUrl : ''
  if (url === '' && isSet('redisUrl')) return problems
  const unusedIf = (
    isUnused: boolean,
    fields: readonly (keyof Catalogue)[],
    needs: string,
  ): void => {
    const names = fields.filter(isSet).map((field) => SETTINGS[field].name)
    if (isUnused && names.length > 0)
      problems.push(`${names.join(', ')} would not be used: REDIS_URL must begin with ${needs}.`)
  }
  const tls = ['redisTlsCaFile', 'redisTlsCertFile', 'redisTlsServerName'] as const
  const hasTls =
    url.startsWith('rediss') || (url.includes('+sentinel') && isSet('redisSentinelTls'))
  unusedIf(!hasTls, tls, 'rediss')
  const sentinel = ['redisSentinelUsername', 'redisSentinelPassword', 'redisSentinelTls'] as const
  unusedIf(!url.includes('+sentinel://'), sentinel, 'redis+sentinel:// or rediss+sentinel://')
  return problems
}

/** A host name as an edge id: characters that are not allowed in an id become dashes. */
function hostName(): string {
  const text = hostname()
    .replace(/[^A-Za-z0-9_.-]/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
  return text.slice(0, 64) || 'edge'
}
