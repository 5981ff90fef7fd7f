import fc from 'fast-check'
import { CREDENTIAL_TYPES } from '../../core/credential/catalogue.ts'
import type { CredentialType } from '../../core/credential/credential-type.ts'
import { DELIVERED_EVENTS } from '../../core/catalogue/events.ts'
import { anyCharacter } from './any-character.ts'
import { sampleAuths, samplePrivateKey } from './sample-auth.ts'

/** Every secret of a generated configuration is one of these variables. */
export const SECRETS = {
  SECRET_A: 'a-secret-of-more-than-16-characters',
  SECRET_B: 'another-secret-of-some-length',
  SECRET_C: 'short',
  SECRET_KEY: samplePrivateKey().pem,
}

const name = fc
  .string({ unit: anyCharacter, minLength: 1, maxLength: 10 })
  .filter((text) => /^(?=.*\S)[^\p{Cc}\p{Cs}]*$/su.test(text))
/** Few, so that some are there twice. */
const fewNames = fc.oneof(fc.constantFrom('a', 'b', 'No', '1', 'null', '# x', 'é: ü'), name)
const secret = fc
  .constantFrom('SECRET_A', 'SECRET_B', 'SECRET_C')
  .map((variable) => `\${${variable}}`)
const segment = fc.constantFrom('*', '**', 'v1', 'a b'.replace(' ', '%20'), 'Z', '~', 'x:y')
const path = fc.array(segment, { minLength: 1, maxLength: 4 }).map((all) => `/${all.join('/')}`)
/** The path of a URL. fast-check's `webPath` builds a table of all characters first, which takes a second. */
const PATH_UNITS = 'a Z 0 9 - . _ ~ ! $ & ( ) * + , ; = : @ %20 %C3%A9 %2F %F0%9F%94%91'.split(' ')
const pathUnit = fc.constantFrom(...PATH_UNITS)
const webPath = fc
  .array(fc.string({ unit: pathUnit, maxLength: 6 }), { maxLength: 3 })
  .map((segments) => segments.map((text) => `/${text}`).join(''))
/** The API refuses these members. */
const REFUSED_MEMBER = /"(?:__proto__|constructor)":/
const metadata = fc
  .dictionary(name, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 })
  .filter((value) => !REFUSED_MEMBER.test(JSON.stringify(value)))
const some = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T[]> =>
  fc.array(value, { minLength: 1, maxLength: 3 })

const anyAuth = (declared: CredentialType): fc.Arbitrary<Record<string, string>> => {
  const { members } = declared
  const optional = Object.keys(members).filter((name) => members[name]?.presence === 'optional')
  return fc
    .tuple(
      fc.constantFrom(
        ...sampleAuths(declared, 'https://auth.example.com', (_, { text, may_be_empty }) =>
          text === 'private_key' ? KEY : may_be_empty ? '' : SECRET,
        ),
      ),
      // Members that a check joins stay together.
      fc.subarray(declared.check === undefined ? optional : []),
      secret,
    )
    .map(([auth, left_out, variable]) =>
      Object.fromEntries(
        Object.entries(auth)
          .filter(([name]) => !left_out.includes(name))
          .map(([name, value]) => [name, value === SECRET ? variable : value]),
      ),
    )
}
const SECRET = '(secret)'
const KEY = '${SECRET_KEY}'
const auth = fc.oneof(
  ...CREDENTIAL_TYPES.filter(({ application }) => application.kind !== 'connection').map(anyAuth),
)
/** Of a connection, also one that needs consent. */
const credential = fc.oneof(...CREDENTIAL_TYPES.map(anyAuth))

const settings = fc.record(
  {
    priority: fc.constantFrom(0, 99, 100, 1000),
    max_body_bytes: fc.constantFrom(null, 0, 1000),
    allow_batches: fc.boolean(),
    not_before: fc.constantFrom(null, '2030-01-01T00:00:00Z', '2030-01-01T00:00:00+02:00'),
    expires_at: fc.constantFrom(null, '2031-01-01T00:00:00.5Z'),
    end_streams: fc.boolean(),
    mcp_tools: fc.record({ allow: some(name), deny: some(name) }, { requiredKeys: [] }),
    injection_detection: fc.record(
      {
        enabled: fc.boolean(),
        mode: fc.constantFrom('block', 'alert', 'log'),
        sensitivity: fc.constantFrom('low', 'medium', 'high'),
        custom_patterns: some(fc.constantFrom('foo\\d+', '\\$\\{jndi:', "it's", '# no comment')),
        roles: fc.record(
          {
            operator: fc.constantFrom('block', 'alert', 'log', null),
            tool_result: fc.constantFrom('block', 'log', null),
          },
          { requiredKeys: [] },
        ),
        trusted_texts: some(fc.constantFrom(`sha256:${'0'.repeat(64)}/operator`)),
        scan_responses: fc.boolean(),
      },
      { requiredKeys: [] },
    ),
    anomaly_detection: fc.record(
      { enabled: fc.boolean(), alert_threshold: fc.constantFrom(0, 0.1, 0.7, 1) },
      { requiredKeys: [] },
    ),
    rate_limiting: fc.record(
      { requests_per_minute: fc.constantFrom(null, 1, 600) },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
)

const rule = fc.record({ methods: some(fc.constantFrom('*', 'GET', 'post')), paths: some(path) })

const SELECTORS = [
  { match_labels: { team: 'a' } },
  { match_expressions: [{ key: 'team', operator: 'Exists' }] },
  {
    match_labels: { env: 'prod' },
    match_expressions: [{ key: 'team', operator: 'NotIn', values: ['b'] }],
  },
]

/** Any configuration that the gateway takes. Scopes refer to agents and integrations by what tells them apart. */
export const anyConfig = fc
  .record({
    integrations: fc.array(fc.tuple(fewNames, auth, fc.boolean()), { maxLength: 3 }),
    agents: fc.array(fc.tuple(fewNames, metadata), { maxLength: 3 }),
    connections: fc.array(
      fc.tuple(fewNames, fc.nat(), fc.constantFrom('', 'user', 'agent'), credential),
      { maxLength: 3 },
    ),
    scopes: fc.array(
      fc.tuple(fewNames, fc.nat(), fc.nat(), fc.array(rule, { maxLength: 2 }), settings),
      {
        maxLength: 4,
      },
    ),
    webhooks: fc.array(
      fc.tuple(
        fewNames,
        webPath,
        fc.subarray([...DELIVERED_EVENTS], { minLength: 1 }),
        fc.option(secret),
      ),
      { maxLength: 3 },
    ),
  })
  .map(({ integrations, agents, connections, scopes, webhooks }) => ({
    integrations: integrations.map(([called, credential, strip_agent_id], i) => ({
      name: called,
      base_url: `https://api${i}.example.com/v1`,
      strip_agent_id,
      allow_encoded_slashes: i % 2 === 1,
      ...(i % 2 === 1 ? { error_format: 'openai', labels: { env: 'prod' } } : {}),
      ...(i % 2 === 1 ? { upstream: { retries: i, connect_timeout_ms: 250 } } : {}),
      auth: credential,
    })),
    agents: agents.map(([agent_name, metadata], i) => ({
      agent_name,
      agent_id: `chosen-${i}`,
      metadata,
      ...(i === 1 ? { unlisted_hosts: 'allow' } : {}),
      ...(i % 2 === 1 ? { labels: { team: agent_name.length > 1 ? 'a' : 'b', 'x.io/y': '' } } : {}),
    })),
    connections:
      agents.length === 0 || integrations.length === 0
        ? []
        : connections.map(([called, at, of, credential], i) => ({
            name: called,
            integration: `https://api${at % integrations.length}.example.com/v1`,
            ...(of === 'user' ? { user: `u${i}` } : {}),
            ...(of === 'agent' && i < agents.length ? { agent: `chosen-${i}` } : {}),
            auth: credential,
          })),
    scopes:
      agents.length === 0 || integrations.length === 0
        ? []
        : scopes.map(([called, agent, integration, rules, more]) => ({
            name: called,
            ...(agent % 3 === 2
              ? { agent_selector: SELECTORS[agent % SELECTORS.length] }
              : { agent: `chosen-${agent % agents.length}` }),
            ...(integration % 3 === 2
              ? { integration_selector: SELECTORS[integration % SELECTORS.length] }
              : {
                  integration: `https://api${integration % integrations.length}.example.com/v1`,
                }),
            rules,
            ...more,
          })),
    webhooks: webhooks.map(([called, at, events, key]) => ({
      name: called,
      url: `https://hooks.example.com${at}`,
      events,
      ...(key === null ? {} : { secret: key }),
    })),
  }))
