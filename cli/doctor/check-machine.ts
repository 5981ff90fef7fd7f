import { X509Certificate } from 'node:crypto'
import { existsSync, lstatSync, readFileSync, readdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { NOT_PROBED, type ProbedPlace, probeProxy } from '../../admin/status/probe-proxy.ts'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import type { StoreAccess } from '../../core/redis/store-access.ts'
import { freeBytesOf } from '../../core/system/free-bytes-of.ts'
import { fromRoot } from '../../core/system/root.ts'
import { type Settings, SETTINGS } from '../../core/settings/settings.ts'
import { urlOf } from '../../core/system/url-of.ts'
import { type FoundBinary, lookForEnvoy, lookForValkey } from '../deployment/binaries.ts'
import { counted } from '../terminal/counted.ts'
import type { ListenSettings } from '../../core/system/listen-failure.ts'
import {
  API_SETTINGS,
  FORWARD_SETTINGS,
  PROXY_SETTINGS,
  tryPort,
} from '../launcher/choose-ports.ts'
import { ask } from './ask.ts'
import { failed, type CheckResult, ok, warning } from './check-result.ts'

/** The store's append-only file and the archive grow; with less free space than this, writes will soon fail. */
const DISK_LOW_BYTES = 2 * 1024 ** 3
const DISK_FULL_BYTES = 200 * 1024 ** 2
/** Enough time to renew a certificate. */
const CERTIFICATE_NOTICE_DAYS = 21
const DAY_MS = 24 * 3600 * 1000

export function checkNode(): CheckResult {
  const { engines } = JSON.parse(readFileSync(fromRoot('package.json'), 'utf8')) as {
    readonly engines: { readonly node: string }
  }
  const [major = 0, minor = 0] = numbersOf(engines.node)
  const [ours = 0, oursMinor = 0] = numbersOf(process.versions.node)
  const isNew = ours > major || (ours === major && oursMinor >= minor)
  return isNew
    ? ok('node', `Node.js ${process.versions.node}`)
    : failed('node', `Node.js ${process.versions.node}`, `Install Node.js ${engines.node}.`)
}

const numbersOf = (version: string): number[] => version.split(/\D+/).filter(Boolean).map(Number)

export async function checkBinaries(settings: Settings): Promise<CheckResult[]> {
  const look = async (
    check: string,
    find: (where: Settings) => Promise<FoundBinary | null>,
  ): Promise<CheckResult> => {
    try {
      const found = await find(settings)
      return found === null
        ? warning(
            check,
            'not installed yet',
            'agw start installs it. This requires Python 3.11 with pip.',
          )
        : ok(check, `${found.version}, ${found.file}`)
    } catch (error) {
      return failed(
        check,
        (error as Error).message,
        `Correct ${check.toUpperCase()}_BIN, or unset it.`,
      )
    }
  }
  const envoy = await look('envoy', lookForEnvoy)
  return settings.redisUrl === null ? [envoy, await look('valkey', lookForValkey)] : [envoy]
}

/** Permissions of the data directory. It does not exist before the first start. */
export function checkDataDir(path: string, settings: Settings): CheckResult[] {
  const check = 'data directory'
  if (!existsSync(path)) return [ok(check, `${path} does not exist yet; agw start creates it`)]
  const own = [path, ...['admin-token', 'encryption-key'].map((name) => join(path, name))]
  const findings = own.flatMap((file): CheckResult[] => {
    const found = lstatSync(file, { throwIfNoEntry: false })
    if (found === undefined) return []
    const mode = found.isDirectory() ? '700' : '600'
    if (found.uid !== process.getuid?.())
      return [
        failed(
          check,
          `${file} belongs to another user`,
          `Run this as that user, or chown ${file}.`,
        ),
      ]
    if ((found.mode & 0o077) !== 0)
      return [failed(check, `other users can read ${file}`, `chmod ${mode} ${file}`)]
    if (found.isFile() && found.size === 0)
      return [failed(check, `${file} is empty`, 'Restore its content from a backup.')]
    return []
  })
  // Without the key, no stored secret can be decrypted.
  const isKeyLost =
    !existsSync(join(path, 'encryption-key')) &&
    settings.encryptionKey === null &&
    existsSync(join(path, 'valkey')) &&
    readdirSync(join(path, 'valkey')).length > 0
  if (isKeyLost)
    findings.push(
      failed(
        check,
        'there is a store but no encryption-key',
        'Restore encryption-key from a backup, or set AGW_ENCRYPTION_KEY.',
      ),
    )
  return findings.length > 0 ? findings : [ok(check, `${path}, accessible only to its owner`)]
}

export async function checkDisk(path: string): Promise<CheckResult> {
  let folder = resolve(path)
  while (!existsSync(folder)) folder = dirname(folder)
  const free_bytes = await freeBytesOf(folder)
  const says = `${(free_bytes / 1024 ** 3).toFixed(1)} GiB free for ${path}`
  const advice = 'Free some space, or set AGW_DATA_DIR and AGW_ARCHIVE_DIR to a larger disk.'
  if (free_bytes < DISK_FULL_BYTES) return failed('disk', says, advice)
  return free_bytes < DISK_LOW_BYTES ? warning('disk', says, advice) : ok('disk', says)
}

export function checkCertificates(settings: Settings, now: Date): CheckResult[] {
  const files = ['tlsCertFile', 'extProcTlsCertFile', 'extProcTlsCaFile'] as const
  return files.flatMap((setting): CheckResult[] => {
    const file = settings[setting]
    if (file === null) return []
    const check = `certificate ${SETTINGS[setting].name}`
    try {
      return [certificateResult(check, new X509Certificate(readFileSync(file)).validTo, now)]
    } catch {
      return [
        failed(
          check,
          `${file} contains no certificate`,
          `Set ${SETTINGS[setting].name} to a PEM file.`,
        ),
      ]
    }
  })
}

export function certificateResult(check: string, valid_to: string, now: Date): CheckResult {
  const days = Math.floor((Date.parse(valid_to) - now.getTime()) / DAY_MS)
  const until = new Date(valid_to).toISOString().slice(0, 10)
  if (days < 0) return failed(check, `expired on ${until}`, 'Replace the certificate.')
  return days < CERTIFICATE_NOTICE_DAYS
    ? warning(check, `expires in ${counted(days, 'day')}, on ${until}`, 'Renew it.')
    : ok(check, `valid until ${until}`)
}

/** A port is in use by this gateway when the gateway answers on it. */
export async function checkPorts(
  settings: Settings,
  store: StoreAccess | null,
): Promise<CheckResult[]> {
  const redis = store === null ? null : connectRedis(store, { name: 'agw-doctor', role: 'queue' })
  try {
    return await portFindings(settings, redis)
  } finally {
    redis?.disconnect()
  }
}

async function portFindings(settings: Settings, redis: RedisClient | null): Promise<CheckResult[]> {
  const { proxyHost, proxyPort, proxyProbeUrl, apiHost, apiPort, forwardPort } = settings
  const probe = async (place: ProbedPlace): Promise<string> => {
    const says = await probeProxy(place, redis)
    return (says === NOT_PROBED ? await probeProxy(place, null) : says) ?? ''
  }
  // An answer with a reason comes from this gateway, which runs and is not ready.
  const isProxy = async (): Promise<boolean> =>
    /^$|^the proxy responded with \d+ \w/.test(await probe(settings))
  // Without a key it refuses what the other listener answers.
  const isForward = async (proxyPort: number): Promise<boolean> => {
    const tlsCertFile = settings.forwardTls ? settings.tlsCertFile : null
    const place = { proxyHost, proxyPort, tlsCertFile, proxyProbeUrl: null }
    return /^the proxy responded with \d+ \w/.test(await probe(place))
  }
  const isAdmin = async (): Promise<boolean> => {
    const answer = await ask(urlOf('http', apiHost, apiPort), '/healthz', null)
    return (answer.body as { status?: unknown } | null)?.status === 'ok'
  }
  return [
    // With a URL to test, the listener is somebody else's.
    ...(proxyProbeUrl === null
      ? [await portFinding('proxy port', PROXY_SETTINGS, proxyHost, proxyPort, isProxy)]
      : []),
    await portFinding('admin port', API_SETTINGS, apiHost, apiPort, isAdmin),
    ...(forwardPort === null
      ? []
      : [
          await portFinding('forward port', FORWARD_SETTINGS, proxyHost, forwardPort, () =>
            isForward(forwardPort),
          ),
        ]),
  ]
}

async function portFinding(
  check: string,
  settings: ListenSettings,
  host: string,
  port: number,
  isOurs: () => Promise<boolean>,
): Promise<CheckResult> {
  const place = `${host}:${port}`
  const tried = await tryPort(host, port, settings)
  if (tried.kind === 'free') return ok(check, `${place} is free`)
  if (await isOurs()) return ok(check, `${place} is used by this gateway`)
  return failed(check, `${place} is not available: ${tried.cause}`, tried.advice)
}
