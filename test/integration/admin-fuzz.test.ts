import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createRequire } from 'node:module'
import fc from 'fast-check'
import type { TSchema } from 'typebox'
import { ROUTES } from '../../admin/server/routes.ts'
import { webhookRoutes } from '../../admin/webhooks/webhook-routes.ts'
import {
  type AdminAnswer,
  type AdminInProcess,
  adminInProcess,
  type Json,
} from '../kit/admin-in-process.ts'
import { anyCharacter } from '../kit/any-character.ts'
import { repetitions } from '../kit/repetitions.ts'
import { type KitValkey, startValkey } from '../kit/start-valkey.ts'

const RUNS = repetitions(25)

let valkey: KitValkey
let admin: AdminInProcess
let validators: Validators
const ids: Record<string, string> = {}

before(async () => {
  valkey = await startValkey()
  admin = await adminInProcess(valkey.url)
  validators = await readValidators()
  const make = async (path: string, body: object) => (await admin.call('POST', path, { body })).body
  const agent = await make('/admin/agents', { agent_name: 'a' })
  const integration = await make('/admin/integrations', {
    name: 'i',
    base_url: 'https://api.example.com/v1',
    auth: { type: 'bearer', token: 'sk-0123456789abcdefghij' },
  })
  ids['agent_id'] = agent.agent_id
  ids['integration_id'] = integration.integration_id
  ids['key_id'] = agent.api_key_id
  const { agent_id, integration_id } = ids
  const scope = await make('/admin/scopes', { name: 's', agent_id, integration_id, rules: [] })
  ids['scope_id'] = scope.scope_id
  ids['token_id'] = (
    await make('/admin/tokens', { email: 'v@example.com', role: 'viewer' })
  ).token_id
  ids['organization_id'] = (await make('/admin/organizations', { name: 'o' })).organization_id
  const url = 'https://nobody.invalid/hook'
  ids['webhook_id'] = (
    await make('/webhooks', { name: 'w', url, events: ['agent_killed'] })
  ).webhook_id
  ids['delivery_id'] = (await make(`/webhooks/${ids['webhook_id']}/test`, {})).delivery_id
})
after(async () => {
  await admin.stop()
  await valkey.stop()
})

type Validate = ((value: unknown) => boolean) & { errors?: unknown }
type Validators = ReadonlyMap<string, Validate>

/** The document's own schemas, compiled by another validator than the service uses. */
async function readValidators(): Promise<Validators> {
  const { Ajv2020 } = createRequire(import.meta.url)('ajv/dist/2020.js')
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  const { body } = await admin.call('GET', '/openapi.json', { token: null })
  const found = new Map<string, Validate>()
  for (const [path, calls] of Object.entries<Json>(body.paths))
    for (const [method, call] of Object.entries<Json>(calls))
      for (const [status, answer] of Object.entries<Json>(call.responses)) {
        const schema = answer.content?.['application/json']?.schema
        if (schema) found.set(`${method.toUpperCase()} ${path} ${status}`, ajv.compile(schema))
      }
  return found
}

function assertDocumented(method: string, pattern: string, answer: AdminAnswer): void {
  assert.ok(answer.status < 500, `${answer.status} ${answer.text}\n${admin.log().slice(-2000)}`)
  if (answer.status === 204) return assert.equal(answer.text, '')
  const path = pattern.replaceAll(/:(\w+)/g, '{$1}')
  const status = answer.status < 400 ? String(answer.status) : '4XX'
  const validate = validators.get(`${method} ${path} ${status}`)
  assert.ok(validate, `${method} ${path} does not document ${answer.status}`)
  assert.ok(validate(answer.body), `${answer.text} ${JSON.stringify(validate.errors)}`)
}

const text = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 30 }),
  fc.constantFrom(
    '',
    '*',
    '/**',
    '/a/../b',
    '@epoch',
    '%',
    '\u0000',
    '\udfff\ud800',
    '\r\nx-injected: 1\r\n\r\n',
    '__proto__',
    'null',
    'a b',
    'x'.repeat(3000),
  ),
)
const anything = fc.anything({
  maxDepth: 3,
  withNullPrototype: false,
  key: text,
  values: [text, fc.integer(), fc.double(), fc.boolean(), fc.constant(null)],
})

/** Values that a schema allows, or nearly: the further a request comes, the more code it meets. */
function near(schema: TSchema, depth = 0): fc.Arbitrary<unknown> {
  const s = schema as Json
  if (s.const !== undefined) return fc.constant(s.const)
  if (s.enum) return mostly(fc.constantFrom(...s.enum))
  if (s.anyOf) return fc.oneof(...s.anyOf.map((choice: TSchema) => near(choice, depth)))
  switch (s.type) {
    case 'object': {
      const members = Object.entries<TSchema>(s.properties ?? {}).map(
        ([name, member]) => [name, near(member, depth + 1)] as const,
      )
      if (members.length === 0) return fc.dictionary(text, anything, { maxKeys: 3 })
      return mostly(fc.record(Object.fromEntries(members), { requiredKeys: s.required ?? [] }))
    }
    case 'array':
      return mostly(
        fc.array(near(s.items, depth + 1), { minLength: s.minItems ?? 0, maxLength: 3 }),
      )
    case 'string':
      return mostly(fc.oneof(text, likely))
    case 'integer':
    case 'number':
      return mostly(fc.oneof(fc.integer({ min: -1, max: 200 }), fc.double({ min: 0, max: 1 })))
    case 'boolean':
      return mostly(fc.boolean())
    default:
      return anything
  }
}

const likely = fc.oneof(
  fc.constantFrom(
    'GET',
    '/chat/**',
    'https://a.example.com/v1',
    'https://b.example.com',
    'x@example.com',
  ),
  fc
    .constantFrom('agent_id', 'integration_id', 'scope_id', 'key_id')
    .map((name) => ids[name] ?? ''),
  fc.webUrl(),
  fc.constantFrom(
    '2035-01-01T00:00:00Z',
    '2035-13-01T00:00:00Z',
    '(a|b)+',
    '(?=x)',
    'a{1000}{1000}',
  ),
)

const mostly = (usual: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 20, arbitrary: usual }, { weight: 1, arbitrary: anything })

/** As text without half surrogate pairs, which no URL can hold. */
const plain = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : toJson(value)).toString()

const toJson = (value: unknown): string => {
  try {
    return JSON.stringify(value) ?? 'null'
  } catch {
    return '{}'
  }
}

/** Streams have tests of their own. What deletes comes last, so that the others find what they are about. */
const inOrder = [...ROUTES, ...webhookRoutes]
  .filter(({ answers }) => (answers[200] as { type?: string } | undefined)?.type !== 'string')
  .sort((a, b) => Number(a.method === 'DELETE') - Number(b.method === 'DELETE'))

for (const route of inOrder) {
  const { method, path } = route
  test(`no input to ${method} ${path} is answered 500, and every answer fits its schema`, async () => {
    const parameter = (name: string) =>
      fc.oneof(
        { weight: 3, arbitrary: fc.constant(null).map(() => ids[name] ?? 'x') },
        { weight: 1, arbitrary: text.map((value) => encodeURIComponent(plain(value))) },
      )
    const names = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
    const query = route.query ?? { type: 'object', properties: {} }
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(...names.map(parameter)),
        fc.oneof(fc.constant(null), near(query as TSchema)),
        route.body ? near(route.body) : fc.constant(undefined),
        async (parameters, asked, body) => {
          let at = 0
          const filled = path.replaceAll(/:\w+/g, () => parameters[at++] || 'x')
          const search = Object.entries((asked ?? {}) as object)
            .map((pair) => pair.map((part) => encodeURIComponent(plain(part))).join('='))
            .join('&')
          const url = search === '' ? filled : `${filled}?${search}`
          const sent = body === undefined || method === 'GET' ? {} : { raw: toJson(body) }
          const answer = await admin.call(method, url, sent)
          if (answer.status === 404 && answer.body.details === undefined) return
          assertDocumented(method, path, answer)
        },
      ),
      { numRuns: RUNS },
    )
  })
}
