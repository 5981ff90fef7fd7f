import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Logger } from 'pino'
import type { AlertCause } from '../../core/alerts/alert.ts'
import { raiseAlert } from '../../core/alerts/raise-alert.ts'
import { resolveWhere } from '../../core/alerts/resolve-where.ts'
import type { Integration } from '../../core/catalogue/model.ts'
import { storedAuthority } from '../../core/certificate/stored-authority.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { readableRecord } from '../../core/store/stored-record.ts'
import { repeatWork } from '../../core/system/repeat-work.ts'
import type { Webhook } from '../webhooks/webhook.ts'

const INTERVAL_MS = 600_000
const NOTICE_MS = 30 * 24 * 3600_000
/** A certificate that lives for weeks is renewed when a third is left; an alert says that this did not happen. */
const NOTICE_SHARE = 0.2
const ABOUT = 'certificate_expiring '
const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

interface Held {
  /** As in `the certificate of …`. */
  readonly of: string
  readonly pem: string
  /** Of a bundle of trusted CAs the last one counts: an old one beside its successor may end. */
  readonly isBundle?: boolean
}

export interface CertificateWatch {
  readonly redis: RedisClient
  readonly settings: Pick<Settings, 'tlsCertFile' | 'caCertFile' | 'organizationId'>
  readonly now: () => Date
  readonly log: Pick<Logger, 'warn'>
}

/** Raises one alert for each certificate some time before it ends. Returns the function that stops it. */
export function watchCertificates(parts: CertificateWatch): () => Promise<void> {
  const late = (error: unknown): void =>
    parts.log.warn(
      { err: error },
      'alerts about certificates that end are late; it will be retried',
    )
  lookAtCertificates(parts).catch(late)
  return repeatWork(INTERVAL_MS, () => lookAtCertificates(parts), late)
}

export async function lookAtCertificates(parts: Omit<CertificateWatch, 'log'>): Promise<void> {
  const { redis, settings, now } = parts
  const due = new Set<string>()
  for (const organization_id of await redis.zrange(REDIS_KEYS.organizationIndex, '0', '-1')) {
    const held = await heldBy(redis, organization_id)
    if (organization_id === settings.organizationId) held.push(...(await ownOf(parts)))
    const causes = held.flatMap((one) => causeOf(one, now()) ?? [])
    for (const cause of causes) {
      const field = `${organization_id} ${cause.about}`
      due.add(field)
      // Once, also after an operator has acknowledged it.
      if ((await redis.hsetnx(REDIS_KEYS.certificatesTold, field, now().toISOString())) === 1)
        await raiseAlert(redis, organization_id, cause, now())
    }
    const standing = new Set(causes.map(({ about }) => about.slice(ABOUT.length)))
    await resolveWhere(redis, organization_id, ABOUT, {
      isOver: (rest) => !standing.has(rest),
      resolution: 'The certificate was replaced or removed.',
      at: now(),
    })
  }
  for (const field of await redis.hkeys(REDIS_KEYS.certificatesTold))
    if (!due.has(field)) await redis.hdel(REDIS_KEYS.certificatesTold, field)
}

async function heldBy(redis: RedisClient, organization_id: string): Promise<Held[]> {
  const [webhooks, integrations] = await Promise.all([
    redis.hvals(REDIS_KEYS.webhooks(organization_id)),
    redis.hvals(REDIS_KEYS.integrations(organization_id)),
  ])
  return [
    ...webhooks.flatMap((text) => {
      const webhook = readableRecord<Webhook>(text)
      const { name, ca_certificates: pem } = webhook ?? {}
      return pem ? [{ of: `the receiver of webhook ${name}`, pem, isBundle: true }] : []
    }),
    ...integrations.flatMap((text) => {
      const integration = readableRecord<Integration>(text)
      const { client_certificate, ca_certificates } = integration?.upstream ?? {}
      const of = `integration ${integration?.name}`
      return [
        ...(client_certificate ? [{ of: `the client of ${of}`, pem: client_certificate }] : []),
        ...(ca_certificates
          ? [{ of: `the API of ${of}`, pem: ca_certificates, isBundle: true }]
          : []),
      ]
    }),
  ]
}

/** What the whole deployment has. A file that cannot be read is reported where it is used. */
async function ownOf({ redis, settings }: Omit<CertificateWatch, 'log'>): Promise<Held[]> {
  const fileOf = async (path: string | null): Promise<string> =>
    path === null ? '' : await readFile(path, 'utf8').catch(() => '')
  const [listener, file, text] = await Promise.all([
    fileOf(settings.tlsCertFile),
    fileOf(settings.caCertFile),
    storedAuthority.text(redis),
  ])
  const stored = text === null ? null : (JSON.parse(text) as { readonly certificate: string })
  return [
    { of: 'the proxy listener', pem: listener },
    { of: 'the CA of the forward proxy', pem: file === '' ? (stored?.certificate ?? '') : file },
  ]
}

function causeOf({ of, pem, isBundle = false }: Held, now: Date): AlertCause | null {
  const ends = (pem.match(PEM) ?? []).flatMap((text) => {
    try {
      const { validFrom, validTo, fingerprint256 } = new X509Certificate(text)
      return [{ from_ms: Date.parse(validFrom), ends_ms: Date.parse(validTo), fingerprint256 }]
    } catch {
      return []
    }
  })
  const [found] = ends.toSorted((a, b) =>
    isBundle ? b.ends_ms - a.ends_ms : a.ends_ms - b.ends_ms,
  )
  if (found === undefined) return null
  const { from_ms, ends_ms, fingerprint256 } = found
  const notice_ms = Math.min(NOTICE_MS, (ends_ms - from_ms) * NOTICE_SHARE)
  if (ends_ms - notice_ms > now.getTime()) return null
  const expires_at = new Date(ends_ms).toISOString()
  return {
    about: `${ABOUT}${fingerprint256.slice(0, 29)} ${of}`,
    kind: 'certificate_expiring',
    severity: 'high',
    title: `The certificate of ${of} ends at ${expires_at}. Connections that need it fail from then on: replace it.`,
    occurrence: { of, expires_at, sha256: fingerprint256 },
  }
}
