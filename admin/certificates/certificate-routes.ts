import { readFileSync } from 'node:fs'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { storedAuthority } from '../../core/certificate/stored-authority.ts'
import { trustedCas } from '../../core/egress/system-ca.ts'
import type { AdminContext } from '../context/admin-context.ts'
import type { Refusal } from '../http/outcome.ts'

const Pem = {
  200: {
    description: 'Certificates in PEM',
    content: { 'application/x-pem-file': { schema: Type.String() } },
  },
}

/**
 * What clients of the forward proxy must trust. Neither needs a token: certificates are public, and an agent fetches them before
 * it can verify anything. Over plain HTTP they are only as trustworthy as the network.
 */
export function certificateRoutes(
  app: FastifyInstance,
  context: AdminContext,
  refuse: (reply: FastifyReply, refusal: Refusal, request_id: string) => FastifyReply,
): void {
  const serve = (path: string, summary: string, text: (own: string) => string): void => {
    app.get(
      path,
      { schema: { tags: ['health'], summary, response: Pem } },
      async (request, reply) => {
        const own = await ownCertificate(context)
        if (own === null) return refuse(reply, { kind: 'refusal', error: 'not_found' }, request.id)
        return reply
          .type('application/x-pem-file')
          .serializer((pem: string) => pem)
          .send(text(own))
      },
    )
  }
  serve(
    '/ca.pem',
    'The CA of the forward proxy, and during a rotation those before or after it',
    (own) => own,
  )
  serve(
    '/ca-bundle.pem',
    'The same with the CAs of the system, for variables that replace the trust store',
    (own) => `${trustedCas(null).trimEnd()}\n${own}`,
  )
}

/** Null: there is no forward proxy. */
async function ownCertificate({ redis, settings }: AdminContext): Promise<string | null> {
  if (settings.forwardPort === null) return null
  if (settings.caCertFile !== null) return readFileSync(settings.caCertFile, 'utf8')
  const text = await storedAuthority.text(redis)
  return text === null ? null : storedAuthority.trusted(text)
}
