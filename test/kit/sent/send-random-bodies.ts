import assert from 'node:assert/strict'
import { call } from '../call.ts'
import { type Access, STORED_CREDENTIAL } from '../operator.ts'
import { SeededRandom } from '../seeded-random.ts'
import type { SharedStack } from '../shared-stack.ts'
import { startUpstream } from '../start-upstream.ts'
import { type Arrived, forbiddenReading } from './forbidden-reading.ts'
import { type RandomBody, randomBody } from './random-body.ts'

export interface SentBodies {
  /** How many requests ended in which way: `forwarded`, `forwarded, cut`, or a reason. */
  readonly counts: ReadonlyMap<string, number>
  /** A message per request that arrived and should not have, or that arrived changed. */
  readonly faults: readonly string[]
}

const AT_A_TIME = 4
/** Each type of credential adds something else to a request that was checked. */
const CREDENTIALS = [
  { type: 'bearer', token: STORED_CREDENTIAL },
  { type: 'query', name: 'api_key', value: 'stored-credential-2' },
  {
    type: 'aws_sigv4',
    access_key_id: 'AKIDEXAMPLE',
    secret_access_key: 'stored-credential-3',
    region: 'us-east-1',
    service: 'execute-api',
  },
] as const

/**
 * Sends random bodies under a scope that denies tools, methods and attacks, and reads what arrives at the API with other
 * programs: nothing that is forbidden may be in it, and it must be the caller's body, or that without `agent_id`.
 */
export async function sendRandomBodies(
  stack: SharedStack,
  { calls, seed }: { readonly calls: number; readonly seed: number },
): Promise<SentBodies> {
  const arrived = new Map<string, Arrived>()
  const upstream = await startUpstream((request, response, _, body) => {
    const query = new URL(request.url ?? '', 'http://x').search.slice(1)
    const content_type = request.headers['content-type'] ?? ''
    arrived.set(String(request.headers['x-case']), { query, content_type, body })
    response.end()
  })
  const accesses = await Promise.all(
    CREDENTIALS.map((auth, i) =>
      stack.operator.makeAccess(`${upstream.origin}/${i}`, {
        auth,
        rules: [{ methods: ['POST'], paths: ['/**'] }],
        scope: {
          mcp_tools: { allow: ['*'], deny: ['delete_*'] },
          injection_detection: { enabled: true },
        },
      }),
    ),
  )
  const organization = await stack.operator.makeOrganizationKey()
  const random = new SeededRandom(seed)
  const all = Array.from({ length: calls }, () => {
    const access = random.pick(accesses)
    const key = random.below(3) === 0 ? organization.key : access.agent.api_key
    return { access, key, one: randomBody(access.agent.agent_id, random) }
  })
  const counts = new Map<string, number>()
  const faults: string[] = []
  let next = 0
  const work = async (): Promise<void> => {
    for (let i = next++; i < all.length; i = next++) {
      const { access, key, one } = all[i] ?? assert.fail()
      try {
        const reason = await send(stack.proxyUrl, access, key, one, String(i))
        const seen = arrived.get(String(i))
        const outcome = seen === undefined ? reason : judge(one, seen, access.agent.agent_id)
        if (seen !== undefined) assert.equal(reason, '', 'a refused request arrived')
        counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
      } catch (error) {
        const shown = { ...one, body: one.body.length, text: one.text.slice(0, 500) }
        faults.push(`seed ${seed}, request ${i}: ${String(error)}; ${JSON.stringify(shown)}`)
      }
    }
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, work))
  await upstream.stop()
  return { counts, faults }
}

async function send(
  to: string,
  { base_url }: Access,
  key: string,
  { headers, query, body, is_chunked, http_version }: RandomBody,
  mark: string,
): Promise<string> {
  const answer = await call({
    to,
    path: `/${base_url}/x${query}`,
    method: 'POST',
    headers: [['x-case', mark], ['authorization', `Bearer ${key}`], ...headers],
    body,
    is_chunked,
    http_version,
  })
  const reason = answer.header('x-agw-reason') ?? ''
  assert.ok(reason !== '' || answer.status === 200, `status ${answer.status}`)
  return reason
}

/** @throws where the request should not have arrived as it did */
function judge({ body }: RandomBody, seen: Arrived, agent_id: string): string {
  assert.equal(forbiddenReading(seen), null)
  if (seen.body.equals(body)) return 'forwarded'
  // The name, quotes, separators and the value of one member.
  const cut_bytes = body.length - seen.body.length
  assert.ok(cut_bytes >= agent_id.length && cut_bytes <= agent_id.length + 20, `${cut_bytes} cut`)
  return 'forwarded, cut'
}
