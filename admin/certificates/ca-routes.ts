import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type Static, Type } from 'typebox'
import { hexFingerprint } from '../../core/certificate/open-authority.ts'
import { makeAuthority } from '../../core/certificate/make-authority.ts'
import { storedAuthority, type StoredAuthority } from '../../core/certificate/stored-authority.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { Nullable, Strict, Timestamp } from '../http/common-schemas.ts'
import { defineRoute, type Route } from '../http/define-route.ts'
import { answer, conflict, notFound } from '../http/outcome.ts'
import { isDeploymentAdmin } from '../access/sign-in.ts'
import { CA_STEPS, type CaRefusal, rotateAuthority } from './rotate-authority.ts'

type CaRole = 'current' | 'next' | 'previous'

const CertificateView = Strict({
  role: Type.Enum(['current', 'next', 'previous'], {
    description:
      '`current` issues the certificates of servers. Clients must trust `next` before it does, and `previous` until all have changed.',
  }),
  subject: Nullable(
    Type.String({
      description: 'null unless the token is of an admin of the default organization',
    }),
  ),
  sha256: Type.String({ description: 'Fingerprint of the certificate, in hex' }),
  not_before: Timestamp,
  not_after: Timestamp,
})

export const CaView = Strict({
  source: Type.Enum(['store', 'files'], {
    description: '`files`: AGW_CA_CERT_FILE, which is rotated by replacing the files',
  }),
  certificates: Type.Array(CertificateView),
  rotation_since: Nullable(
    Type.String({
      format: 'date-time',
      description: 'When the last step of a rotation was taken that is not finished',
    }),
  ),
})

const MESSAGES: Readonly<Record<CaRefusal, string>> = {
  rotation_in_progress:
    'A rotation of the CA has begun. Read GET /admin/ca, and take the next step: activate, then finish.',
  no_next_ca:
    'There is no next CA. Take the step prepare first, and let clients fetch /ca.pem or /ca-bundle.pem.',
  no_previous_ca: 'There is no previous CA to remove. Take the step activate first.',
}

const NO_PROXY =
  'The gateway has no forward proxy: AGW_FORWARD_PORT is off, or its CA is not made yet.'

export const caRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/admin/ca',
    role: 'viewer',
    tag: 'ca',
    summary: 'Read the CA of the forward proxy',
    answers: { 200: CaView },
    handle: async ({ context, actor }) => {
      const { forwardPort, caCertFile, organizationId } = context.settings
      const show = isDeploymentAdmin(actor, organizationId) ? asItIs : withoutSubjects
      if (forwardPort === null) return notFound(NO_PROXY)
      if (caCertFile !== null) {
        const certificates = viewsOf('current', readFileSync(caCertFile, 'utf8'))
        return answer(200, show({ source: 'files', certificates, rotation_since: null }))
      }
      const text = await storedAuthority.text(context.redis)
      return text === null
        ? notFound(NO_PROXY)
        : answer(200, show(view(storedAuthority.parse(text))))
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/admin/ca/rotate',
    role: 'admin',
    deployment_wide: true,
    tag: 'ca',
    summary: 'Replace the CA of the forward proxy, step by step',
    body: Strict({
      step: Type.Enum([...CA_STEPS], {
        description:
          '`prepare` makes the next CA, which /ca.pem and /ca-bundle.pem then have too. `activate` issues all certificates with it. `finish` removes the previous one. `replace` makes a new CA and forgets the others at once: clients that do not trust it yet fail.',
      }),
    }),
    answers: { 200: CaView },
    handle: async ({ context, body }) => {
      const { redis, ring, settings } = context
      if (settings.forwardPort === null) return notFound(NO_PROXY)
      if (settings.caCertFile !== null)
        return conflict('ca_of_files', 'The CA is that of AGW_CA_CERT_FILE. Replace the files.')
      const text = await storedAuthority.text(redis)
      if (text === null) return notFound(NO_PROXY)
      const stored = storedAuthority.parse(text)
      const make = () => storedAuthority.sealKey(ring, makeAuthority(context.now().getTime()))
      const rotated = rotateAuthority(stored, body.step, {
        make,
        since: context.now().toISOString(),
      })
      if (rotated.kind === 'refused') return conflict(rotated.reason, MESSAGES[rotated.reason])
      const { field } = storedAuthority
      const key = REDIS_KEYS.forwardCa
      const after = view(rotated.stored)
      return {
        kind: 'plan',
        guards: [['HGET', key, field, text]],
        writes: [['HSET', key, field, JSON.stringify(rotated.stored)]],
        targets: rotated.is_reissued ? [{ what: 'forward_ca' }] : [],
        audits: [{ action: `ca.${body.step}`, target: 'forward-ca', before: view(stored), after }],
        answer: answer(200, after),
      }
    },
  }),
]

type Shown = Static<typeof CaView>

const asItIs = (view: Shown): Shown => view

/** The subject of a CA of one's own may name hosts and people. */
const withoutSubjects = (view: Shown): Shown => ({
  ...view,
  certificates: view.certificates.map((one) => ({ ...one, subject: null })),
})

function view({ certificate, next, previous, since }: StoredAuthority): Static<typeof CaView> {
  return {
    source: 'store',
    certificates: [
      ...viewsOf('current', certificate),
      ...(next === undefined ? [] : viewsOf('next', next.certificate)),
      ...(previous === undefined ? [] : viewsOf('previous', previous)),
    ],
    rotation_since: since ?? null,
  }
}

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

function viewsOf(role: CaRole, text: string): Static<typeof CertificateView>[] {
  return (text.match(PEM) ?? []).map((pem) => {
    const certificate = new X509Certificate(pem)
    const { subject, validFrom, validTo } = certificate
    return {
      role,
      subject,
      sha256: hexFingerprint(certificate),
      not_before: new Date(validFrom).toISOString(),
      not_after: new Date(validTo).toISOString(),
    }
  })
}
