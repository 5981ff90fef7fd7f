import { hashKey, isWellFormedKey } from '../../core/keys/api-key.ts'
import type { AdminRole, AdminToken } from '../../core/catalogue/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { runScript } from '../../core/redis/run-script.ts'
import type { Actor, AdminContext } from '../context/admin-context.ts'
import type { Refusal } from '../http/outcome.ts'
import { recordFailedSignIn } from './record-failed-sign-in.ts'
import { readBearer } from './read-bearer.ts'
import { parseRecord } from '../../core/store/stored-record.ts'

/** A token of our making or of this length cannot be found by trying. */
const UNGUESSABLE_LENGTH = 32

/**
 * Who makes the request, by its bearer token. Wrong tokens are counted by address; over the limit a token that could
 * be guessed is not even looked up, while one that could not still opens, so that operators cannot be locked out.
 */
export async function signIn(context: AdminContext, request: SignIn): Promise<Actor | Refusal> {
  const token = readBearer(request.authorization)
  if (token === null) return unauthorized
  const address = request.source_ip ?? 'unknown'
  if (!isGuessable(token)) return await tryToken(context, request, token, address)
  const { signInThrottle } = context
  return await signInThrottle.inTurn(address, async () => {
    const wait_s = signInThrottle.waitOf(address)
    return wait_s > 0 ? throttled(wait_s) : await tryToken(context, request, token, address)
  })
}

/** Whether it could be found by trying. */
export const isGuessable = (token: string): boolean =>
  token.length < UNGUESSABLE_LENGTH && !isWellFormedKey(token)

interface SignIn {
  readonly authorization: string | undefined
  readonly source_ip: string | null
  readonly request_id: string
}

async function tryToken(
  context: AdminContext,
  request: SignIn,
  token: string,
  address: string,
): Promise<Actor | Refusal> {
  const { signInThrottle, tokenUses, now } = context
  const found = await findToken(context, token)
  const expires_ms = found?.expires_at ? Date.parse(found.expires_at) : Number.POSITIVE_INFINITY
  if (found === null || expires_ms <= now().getTime()) {
    const wait_s = signInThrottle.waitOf(address)
    const failures = signInThrottle.fail(address)
    await recordFailedSignIn(context, { ...request, failures, token: found })
    return wait_s > 0 ? throttled(wait_s) : unauthorized
  }
  const { token_id, organization_id, email, role } = found
  tokenUses.note(organization_id, token_id)
  return { token_id, organization_id, email, role, source_ip: request.source_ip }
}

const RANK: Readonly<Record<AdminRole, number>> = { viewer: 0, operator: 1, admin: 2 }

/** Null when the actor may make the call. */
export function checkRole(
  actor: Actor,
  route: { readonly role: AdminRole; readonly deployment_wide?: boolean },
  defaultOrganization: string,
): Refusal | null {
  if (RANK[actor.role] < RANK[route.role])
    return {
      kind: 'refusal',
      error: 'forbidden',
      message: `A token with the role ${actor.role} is not allowed to do that. Use one with the role ${route.role}.`,
      details: { role: route.role },
    }
  if (route.deployment_wide && actor.organization_id !== defaultOrganization)
    return {
      kind: 'refusal',
      error: 'forbidden',
      message: 'Only tokens of the default organization are allowed to do that.',
      details: { role: route.role },
    }
  return null
}

/** Whether the actor operates the deployment, and may see its host names and versions. */
export const isDeploymentAdmin = (actor: Actor, defaultOrganization: string): boolean =>
  checkRole(actor, { role: 'admin', deployment_wide: true }, defaultOrganization) === null

async function findToken({ redis }: AdminContext, token: string): Promise<AdminToken | null> {
  const text = await runScript(
    redis,
    'find-key',
    [REDIS_KEYS.adminTokenHashes],
    [hashKey(token), REDIS_KEYS.adminTokens('')],
  )
  return typeof text === 'string' ? parseRecord<AdminToken>(text) : null
}

const unauthorized: Refusal = {
  kind: 'refusal',
  error: 'unauthorized',
  headers: { 'www-authenticate': 'Bearer realm="agw admin"' },
}

const throttled = (wait_s: number): Refusal => ({
  kind: 'refusal',
  error: 'too_many_sign_ins',
  details: { retry_after_seconds: wait_s },
  headers: { 'retry-after': String(wait_s) },
})
