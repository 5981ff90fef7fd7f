import assert from 'node:assert/strict'
import {
  COMPANY_TRACE,
  COMPANY_TRACEPARENT,
  type CompanyApi,
  companyAnswers,
} from '../../kit/company-calls.ts'
import type { KitEnvoy } from '../../kit/start-envoy.ts'

/** Where the company's Envoy sends its spans; nobody has to be there. */
export const COMPANY_COLLECTOR_PORT = 4317

export interface CompanyEnvoys {
  readonly company_url: string
  /** The company's, of its manifests alone. */
  readonly before: () => Promise<KitEnvoy>
  /** The company's, of its manifests and ours. */
  readonly after: () => Promise<KitEnvoy>
  /** Ours, of the same manifests; null if it is the company's. */
  readonly ours: (() => Promise<KitEnvoy>) | null
  /** A call of an agent. @returns its status */
  readonly callAs: (gateway: KitEnvoy, headers: Readonly<Record<string, string>>) => Promise<number>
}

/**
 * The answers of the company's own routes, which contain what its API received, are the same with and without the gateway, and
 * its traces and those of our callers go on.
 * @returns how many answers were compared
 */
export async function checkCompany(
  { company_url, before, after, ours, callAs }: CompanyEnvoys,
  api: CompanyApi,
): Promise<number> {
  const alone = await before()
  const expected = await answersAt(company_url)
  await alone.stop()
  const reached = Object.values(expected).filter((answer) => answer.includes('x-company-token'))
  assert.ok(reached.length > 0, 'calls with the token reach the API of the company')
  for (const answer of reached)
    assert.ok(answer.includes(`${COMPANY_TRACE}-SPAN-`), `a span of the company's Envoy: ${answer}`)

  const shared = await after()
  assert.deepEqual(await answersAt(company_url), expected)
  const gateway = ours === null ? shared : await ours()
  api.seen.length = 0
  assert.equal(await callAs(gateway, { traceparent: COMPANY_TRACEPARENT }), 200)
  const [seen = ''] = api.seen
  const [, received = ''] = /^traceparent\n(.*)$/im.exec(seen) ?? []
  assert.ok(received.startsWith(`00-${COMPANY_TRACE}-`), seen)
  if (ours !== null) assert.equal(received, COMPANY_TRACEPARENT)
  assert.deepEqual(await answersAt(company_url), expected, 'after a call of an agent')
  for (const envoy of new Set([shared, gateway])) await envoy.stop()
  return Object.keys(expected).length
}

const [, , CALLER_SPAN] = COMPANY_TRACEPARENT.split('-')
const UUID = /\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g
/** In the trace of the caller, but not the span of the caller. */
const SPAN = new RegExp(`(00-${COMPANY_TRACE}-)(?!${CALLER_SPAN})[0-9a-f]{16}-`, 'g')

/** Request ids and spans of the company's Envoy are others with each call. */
async function answersAt(url: string): Promise<Record<string, string>> {
  const answers = Object.entries(await companyAnswers(url))
  return Object.fromEntries(
    answers.map(([name, text]) => [name, text.replace(UUID, 'UUID').replace(SPAN, '$1SPAN-')]),
  )
}
