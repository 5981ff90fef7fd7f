import { acceptedEncoding } from '../../admin/http/accepted-encoding.ts'
import { checkWebhookUrl } from '../../admin/webhooks/check-webhook-url.ts'
import { hideUrlParts, hideWebhookUrl } from '../../admin/webhooks/hide-webhook-url.ts'
import { readBearer } from '../../admin/access/read-bearer.ts'
import { readTime } from '../../admin/http/read-time.ts'
import { matchesFilter, readFilter } from '../../admin/activity/activity-filter.ts'
import { admit } from '../../core/decision/admit.ts'
import { AddressPolicy } from '../../core/egress/address-policy.ts'
import { type BodyQuestions, readBody } from '../../core/inspection/read-body.ts'
import { maskSecrets } from '../../core/masking/mask-secrets.ts'
import { checkMcpTool } from '../../core/mcp/check-mcp-tool.ts'
import { foldMethod } from '../../core/mcp/fold-method.ts'
import { readMcpHeaders } from '../../core/mcp/read-mcp-headers.ts'
import { compileToolGlob, matchesToolGlob } from '../../core/mcp/tool-glob.ts'
import { SCOPE_DEFAULTS } from '../../core/catalogue/model.ts'
import { compileIntegrations } from '../../core/decision/compile-integrations.ts'
import { compileScopes } from '../../core/decision/compile-scopes.ts'
import { describeEndpoint } from '../../core/request/describe-call.ts'
import type { Header } from '../../core/request/header.ts'
import { matchIntegration } from '../../core/decision/match-integration.ts'
import { mayBodyOverride } from '../../core/decision/may-body-override.ts'
import { mergeSettings } from '../../core/decision/merge-settings.ts'
import { namesOtherCharset } from '../../core/request/names-other-charset.ts'
import { parseBaseUrl } from '../../core/request/parse-base-url.ts'
import { parseTarget } from '../../core/request/parse-target.ts'
import { parsePathPattern } from '../../core/decision/path-pattern.ts'
import { readKey } from '../../core/request/read-key.ts'
import { Secret } from '../../core/keys/secret.ts'
import { echoForms } from '../../ext-proc/response/echo-forms.ts'
import { compileSavedSettings, patternSettings } from '../../core/scanner/compile-settings.ts'
import { SearchBudget } from '../../core/scanner/text/search-budget.ts'
import { scanRequest } from '../../core/scanner/scan-request.ts'
import { scanResponseBody } from '../../core/scanner/scan-response.ts'
import { placesWithKeys } from '../../ext-proc/call/places-with-keys.ts'
import { readHead } from '../../ext-proc/call/read-head.ts'
import { proxyCredentials } from '../../ext-proc/forward/proxy-credentials.ts'
import { readAuthority } from '../../ext-proc/forward/read-authority.ts'
import { EndpointFilter } from '../../ext-proc/response/endpoint-filter.ts'
import { EventFilter } from '../../ext-proc/response/event-filter.ts'
import { filterTools } from '../../ext-proc/response/filter-tools.ts'
import { judgeHeaders } from '../../ext-proc/response/judge-headers.ts'
import type { CallPlace } from '../../ext-proc/response/judge-reference.ts'
import { redactHeaders } from '../../ext-proc/response/redact-headers.ts'
import { callDigest } from '../../core/approval/call-digest.ts'
import { makeExcerpt } from '../../core/approval/excerpt.ts'
import { readMcpMessage } from '../../core/approval/mcp-message.ts'
import { wordsOfCall } from '../../core/approval/words-of-call.ts'
import { parseReference } from '../../core/credential/secret-reference.ts'
import { preferredWait } from '../../core/request/preferred-wait.ts'
import { readTokenAnswer } from '../../core/token/read-token-answer.ts'
import { aScope, anAgent, anIntegration } from '../../test/unit/policy-kit.ts'

/** What is run with a text that somebody else has made. */
export interface Subject {
  readonly name: string
  /** Of all that is read, where the product has a limit, else what Envoy lets through. */
  readonly limit_bytes: number
  /** @param text for the places that somebody else fills */
  readonly prepare: (text: string) => Prepared
}

export interface Prepared {
  /** Of all that is read. */
  readonly bytes: number
  readonly run: () => unknown
}

type Input = string | Buffer | readonly Header[]

const sizeOf = (input: Input): number =>
  typeof input === 'string' || Buffer.isBuffer(input)
    ? Buffer.byteLength(input)
    : input.reduce((sum, { name, value }) => sum + name.length + value.length, 0)

const subject = <Read extends Input>(
  name: string,
  limit_bytes: number,
  make: (text: string) => Read,
  run: (input: Read) => unknown,
): Subject => ({
  name,
  limit_bytes,
  prepare: (text) => {
    const input = make(text)
    return { bytes: sizeOf(input), run: () => run(input) }
  },
})

/** Of all headers of a message together, by default. */
const HEADERS_BYTES = 60 * 1024
/** A little less than the limit, for what stands before it. */
const PATH_BYTES = 16_000
/** `AGW_MAX_BODY_BYTES`, by default; also of an event, and of a response that is read as a whole. */
const BODY_BYTES = 8 << 20

/** As long as the text is in bytes, or a little less. */
const encoded = (text: string): string => {
  const bytes = Buffer.from(text)
  return encodeURIComponent(bytes.toString('utf8', 0, bytes.length / 3).replaceAll('\ufffd', ''))
}
const latin1 = (text: string): string => Buffer.from(text, 'utf8').toString('latin1')
/** As Envoy passes a value: without line ends and NUL. */
const header = (text: string): string => latin1(text).replaceAll(/[\0\r\n]/g, '_')

const integrations = [
  'https://api.example.com/v1',
  'https://api.example.com/v1/Files',
  'https://api.example.com/a/b',
].map((base_url, i) => anIntegration(base_url, { integration_id: `int_${i}` }))
const table = compileIntegrations(integrations)
const scopes = compileScopes(
  ['/models/**', '/**/x', '/Models/*/y', '/**'].map((path, i) =>
    aScope({
      scope_id: `scp_${i}`,
      integration_id: 'int_0',
      rules: [{ methods: i === 3 ? ['*'] : ['POST', 'GET'], paths: [path] }],
      mcp_tools: { allow: ['search*', '*a*b'], deny: ['delete_*', '*x*y*'] },
    }),
  ),
)

/** All steps of admission, for an agent that may call everything below the base URL. */
function admitCall(headers: readonly Header[]): unknown {
  const { method, path, upgrade } = readHead(headers)
  return admit({
    request: {
      method,
      target: parseTarget(path),
      headers,
      upgrade,
      named_agents: [],
      named_users: [],
      installation: 'here',
      is_proxied: false,
    },
    now_ms: 0,
    caller: { kind: 'assumed' },
    integrations: table,
    agent: { agent: anAgent(), killed_at: null, scopes },
  })
}

const called = (path: string, more: readonly Header[] = [], method = 'POST'): readonly Header[] => [
  { name: ':method', value: method },
  { name: ':path', value: path },
  { name: ':authority', value: 'gateway.example.com' },
  { name: 'content-type', value: 'application/json' },
  ...more,
]

const URL_CALLED = '/https://api.example.com/v1/models/a'
const admission = (
  name: string,
  limit_bytes: number,
  make: (text: string) => readonly Header[],
): Subject => subject(`admission: ${name}`, limit_bytes, make, admitCall)
const inHeader = (name: string): Subject =>
  admission(name, HEADERS_BYTES, (text) => called(URL_CALLED, [{ name, value: header(text) }]))

const ADMISSION: readonly Subject[] = [
  admission('path', PATH_BYTES, (text) => called(`${URL_CALLED}/${header(text)}`)),
  admission('path, encoded', PATH_BYTES, (text) => called(`${URL_CALLED}/${encoded(text)}`)),
  admission('segments', PATH_BYTES, (text) =>
    called(`${URL_CALLED}/${header(text).replaceAll(/[^/]{32}/g, '$&/')}`),
  ),
  admission('host', HEADERS_BYTES, (text) => called(`/https://${header(text)}/v1/models/a`)),
  admission('whole target', HEADERS_BYTES, (text) => called(`/${header(text)}`)),
  admission('query', HEADERS_BYTES, (text) => called(`${URL_CALLED}?${header(text)}`)),
  admission('query, encoded', HEADERS_BYTES, (text) => called(`${URL_CALLED}?${encoded(text)}`)),
  admission('parameter', HEADERS_BYTES, (text) => called(`${URL_CALLED}?method=${header(text)}`)),
  admission('method', HEADERS_BYTES, (text) => called(URL_CALLED, [], header(text))),
  ...[
    'x-http-method-override',
    'x-original-url',
    'x-host',
    'x-original-path',
    'destination',
    'cookie',
    'via',
    'connection',
    'forwarded',
    'content-type',
    'x-note',
    'script-name',
  ].map(inHeader),
  admission('name of a header', HEADERS_BYTES, (text) =>
    called(URL_CALLED, [{ name: header(text).toLowerCase(), value: 'x' }]),
  ),
]

const readKeyOf =
  (query: string | null) =>
  (headers: readonly Header[]): unknown =>
    readKey(headers, query, placesWithKeys(headers, query))
const withKey = (authorization: string): readonly Header[] => [
  { name: 'authorization', value: authorization },
  { name: 'x-api-key', value: authorization },
]
const CALLER: readonly Subject[] = [
  subject('key: authorization', HEADERS_BYTES, (text) => withKey(header(text)), readKeyOf(null)),
  subject(
    'key: bearer',
    HEADERS_BYTES,
    (text) => withKey(`Bearer agw_live_${header(text)}`),
    readKeyOf(null),
  ),
  subject(
    'key: basic',
    HEADERS_BYTES,
    (text) => withKey(`Basic ${Buffer.from(text).toString('base64')}`),
    readKeyOf(null),
  ),
  subject('key: query', HEADERS_BYTES, header, (query) => readKeyOf(query)(withKey(''))),
  subject(
    'head',
    HEADERS_BYTES,
    (text) =>
      ['content-type', 'content-encoding', 'x-agw-agent-id', 'content-length'].map((name) => ({
        name,
        value: header(text),
      })),
    readHead,
  ),
  subject(
    'MCP headers',
    HEADERS_BYTES,
    (text) =>
      [':method', 'accept', 'content-type', 'mcp-name', 'mcp_method', 'mcp-param-a'].map(
        (name) => ({ name, value: header(text) }),
      ),
    readMcpHeaders,
  ),
  subject('charset', HEADERS_BYTES, header, namesOtherCharset),
  subject('content type', HEADERS_BYTES, header, (content_type) => {
    const there = scopes.by_integration.get('int_0')
    return there !== undefined && mayBodyOverride(there, aScope(), content_type, false, false)
  }),
  subject(
    'authority of a tunnel',
    HEADERS_BYTES,
    (text) => [{ name: ':authority', value: header(text) }],
    (headers) => readAuthority(headers, null),
  ),
  subject(
    'key of a tunnel',
    HEADERS_BYTES,
    (text) => [
      {
        name: 'proxy-authorization',
        value: `Basic ${Buffer.from(text).toString('base64')}`,
      },
    ],
    proxyCredentials,
  ),
  subject(
    'endpoint in the log',
    PATH_BYTES,
    (text) => `/${latin1(text)}`,
    (raw_path) => describeEndpoint({ origin: 'https://api.example.com', raw_path }),
  ),
]

const QUESTIONS: BodyQuestions = {
  content_type: 'application/json',
  content_encoding: null,
  limit_bytes: 1 << 24,
  identity: { strips: true, agent_id: null },
  asks_overrides: true,
  keeps_body: true,
  json_rpc: { headers: null },
  scan: null,
}
const body = (name: string, content_type: string, frame: (text: string) => string): Subject =>
  subject(
    `body: ${name}`,
    BODY_BYTES,
    (text) => Buffer.from(frame(text)),
    (bytes) => readBody(bytes, { ...QUESTIONS, content_type }, null, new SearchBudget()),
  )
const { tools } = mergeSettings([
  aScope({ mcp_tools: { allow: ['search*', '*a*b*'], deny: ['delete_*', '*x*y*'] } }),
])
const json = (text: string): string => JSON.stringify(text)
const FORM = 'application/x-www-form-urlencoded'
const PART = 'multipart/form-data; boundary=b'
const BATCH = 'multipart/mixed; boundary=b'
const httpPart = (more: string, request: string): string =>
  `--b\r\nContent-Type: application/http\r\n${more}\r\n\r\n${request}\r\n\r\n--b--`

const BODIES: readonly Subject[] = [
  body('JSON', 'application/json', (text) => text),
  body(
    'JSON, a string',
    'application/json',
    (text) => `{"method":${json(text)},"agent_id":${json(text)}}`,
  ),
  body('JSON, a key', 'application/json', (text) => `{${json(text)}:1,"a":{${json(text)}:1}}`),
  body(
    'JSON-RPC',
    'application/json',
    (text) => `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":${json(text)}}}`,
  ),
  body(
    'JSON-RPC, a method',
    'application/json',
    (text) => `{"jsonrpc":"2.0","id":1,"method":${json(text)}}`,
  ),
  body('not JSON', 'application/json', (text) => `{method:${text}`),
  body('form', FORM, (text) => text),
  body('form, a value', FORM, (text) => `method=${text}`),
  body('form, encoded', FORM, (text) => `_method=${encoded(text)}`),
  body('form, agent_id', FORM, (text) => `agent_id=${text}`),
  body(
    'multipart',
    PART,
    (text) => `--b\r\nContent-Disposition: form-data; name="x"\r\n\r\n${text}\r\n--b--`,
  ),
  body(
    'multipart, a header',
    PART,
    (text) => `--b\r\nContent-Disposition: form-data; name="${text}"\r\n\r\nDELETE\r\n--b--`,
  ),
  body('multipart, parts', PART, (text) => `--b\r\n${text}`),
  body('no type', '', (text) => text),
  body('batch, an encoding', BATCH, (text) =>
    httpPart(`Content-Transfer-Encoding:${text.replace(/^\S+|\S+$/g, '')}`, 'GET / HTTP/1.1'),
  ),
  body('batch, types', BATCH, (text) =>
    httpPart(text.replaceAll(/[^\r\n]{16}/g, '$&content-type:'), 'GET / HTTP/1.1'),
  ),
  body('batch, a request', BATCH, (text) => httpPart('', `GET ${text}`)),
  body('batch, a header', BATCH, (text) => httpPart('', `GET / HTTP/1.1\r\nX-HTTP-Method:${text}`)),
  body(
    'batch, JSON',
    'application/json',
    (text) => `{"requests":[{"method":${json(text)},"url":${json(text)},"body":${json(text)}}]}`,
  ),
  body('batch, JSON as it is', 'application/json', (text) => `{"requests":[${text}`),
]

const BOUNDARY = 'e'.repeat(68)
const digested = (headers: readonly Header[], bytes: Buffer): unknown =>
  callDigest({
    agent_id: 'agt_1',
    policy_sha256: '',
    integration_id: 'int_0',
    integration_sha256: '',
    connection: null,
    method: 'POST',
    url: URL_CALLED,
    headers,
    body: bytes,
    counted: readMcpMessage(bytes)?.counted ?? null,
  })
const typed = (value: string): readonly Header[] => [{ name: 'content-type', value }]
const approved = (
  name: string,
  content_type: string,
  frame: (text: string) => string,
  run: (headers: readonly Header[], bytes: Buffer) => unknown,
): Subject =>
  subject(
    `approval: ${name}`,
    BODY_BYTES,
    (text) => Buffer.from(frame(text)),
    (bytes) => run(typed(content_type), bytes),
  )
const MULTIPART = `multipart/form-data; boundary=${BOUNDARY}`
const APPROVALS: readonly Subject[] = [
  subject(
    'approval: digest of headers',
    HEADERS_BYTES,
    (text) =>
      ['content-type', 'prefer', 'accept', 'x-note'].map((name) => ({ name, value: header(text) })),
    (headers) => [digested(headers, Buffer.alloc(0)), preferredWait(headers)],
  ),
  approved('digest of parts', MULTIPART, (text) => `--${BOUNDARY}\r\n${text}`, digested),
  approved(
    'digest of parts, nearly another one',
    MULTIPART,
    (text) => `--${BOUNDARY}\r\n\r\n${`--${BOUNDARY.slice(1)}_`.repeat(text.length / 70)}`,
    digested,
  ),
  approved(
    'digest of many parts',
    'multipart/form-data; boundary=b',
    (text) => `${text.replaceAll(/[^]{64}/g, '--b\r\n\r\n$&\r\n')}--b--`,
    digested,
  ),
  approved(
    'MCP message',
    'application/json',
    (text) => `{"method":"tools/call","params":{"name":${json(text)},${json(text)}:1}}`,
    digested,
  ),
  approved('MCP message as it is', 'application/json', (text) => `{${text}`, digested),
  approved('excerpt', 'application/json', (text) => `{"amount":${json(text)}}`, makeExcerpt),
  approved('excerpt of text', 'text/plain', (text) => text, makeExcerpt),
  approved('excerpt of a form', FORM, (text) => `amount=${text}`, makeExcerpt),
  subject(
    'approval: words',
    2_048,
    (text) => `https://api.stripe.com/v1/${header(text)}`,
    (url) => wordsOfCall('POST', url),
  ),
]

/** `BODY_LIMIT_BYTES` of an answer to a form. */
const ANSWER_BYTES = 65_536
const OAUTH: readonly Subject[] = [
  subject(
    'OAuth: an answer',
    ANSWER_BYTES,
    (text) =>
      Buffer.from(
        `{"access_token":${json(text)},"token_type":${json(text)},"scope":${json(text)}}`,
      ),
    (bytes) => readTokenAnswer(200, bytes),
  ),
  subject(
    'OAuth: an answer as it is',
    ANSWER_BYTES,
    (text) => Buffer.from(text),
    (bytes) => readTokenAnswer(200, bytes),
  ),
]

const TOOLS: readonly Subject[] = [
  subject('tool name', BODY_BYTES, String, (name) => checkMcpTool(tools, name)),
  subject('tool method', BODY_BYTES, String, foldMethod),
  subject('tool glob', 256, String, (glob) => matchesToolGlob(compileToolGlob(glob), glob)),
  subject(
    'response: tools/list',
    BODY_BYTES,
    (text) => Buffer.from(`{"result":{"tools":[{"name":${json(text)}},{"name":"search"}]}}`),
    (bytes) => filterTools(bytes, tools),
  ),
  subject(
    'response: tools/list, as it is',
    BODY_BYTES,
    (text) => Buffer.from(`{"result":{"tools":[${text}`),
    (bytes) => filterTools(bytes, tools),
  ),
  subject(
    'response: events with tools',
    BODY_BYTES,
    (text) => Buffer.from(`data: {"result":{"tools":[{"name":${json(text)}}]}}\n\n${text}`),
    (bytes) => new EventFilter(tools).push(bytes, true),
  ),
]

const target = parseTarget(URL_CALLED)
const compiled = target.ok ? matchIntegration(table, target.target).integration : null
if (!target.ok || compiled === null) throw new Error('the URL of the fuzz does not parse')
const place: CallPlace = {
  target: target.target,
  base_url: 'https://api.example.com/v1',
  integration: compiled,
  integrations: table,
  mayCall: () => true,
  method: 'GET',
  is_proxied: false,
  path: URL_CALLED,
  called: {
    authority: 'gateway.example.com',
    scheme: 'http',
    forwarded_host: 'front.example.com',
  },
  gateway: { hosts: ['127.0.0.1'], ports: [8080], proxy_url: null },
}
const answered = (
  name: string,
  frame: (text: string) => string = String,
  where = place,
  label = name,
): Subject =>
  subject(
    `response: ${label}`,
    HEADERS_BYTES,
    (text) => [
      { name: ':status', value: '200' },
      { name, value: header(frame(text)) },
    ],
    (headers) => judgeHeaders(headers, where),
  )
const RESPONSES: readonly Subject[] = [
  ...['location', 'content-location', 'link', 'refresh', 'www-authenticate', 'set-cookie'].map(
    (name) => answered(name),
  ),
  answered('location', (text) => `https://${text}`, place, 'location, a host'),
  answered('location', (text) => `/${text}`, place, 'location, a path'),
  answered('location', (text) => `/v1?${text}`, place, 'location, a query'),
  answered('location', String, { ...place, is_proxied: true }, 'location, forward proxy'),
  answered('link', (text) => `<${text}>; rel=next`, place, 'link, one'),
  answered(
    'www-authenticate',
    (text) => `Bearer realm="${text}"`,
    place,
    'www-authenticate, a realm',
  ),
  answered(
    'set-cookie',
    (text) => `a=b; Path=/${text}; Domain=${text}`,
    place,
    'set-cookie, attributes',
  ),
  subject(
    'response: host of the gateway',
    HEADERS_BYTES,
    (text) => [{ name: header(text), value: header(text) }],
    ([named]) =>
      judgeHeaders([{ name: 'location', value: 'https://other.example.com/' }], {
        ...place,
        called: {
          ...place.called,
          authority: named?.name ?? '',
          forwarded_host: named?.value ?? '',
        },
      }),
  ),
  subject(
    'response: echoed secret',
    HEADERS_BYTES,
    (text) => [{ name: 'x', value: header(text) }],
    (headers) => redactHeaders(headers, SECRET),
  ),
  subject(
    'response: endpoint event',
    BODY_BYTES,
    (text) => Buffer.from(`event: endpoint\n${text}\ndata: /x\n\n`),
    (bytes) => new EndpointFilter(place).push(bytes, true),
  ),
]
const SECRET = echoForms(new Secret('sk-abc%25 aaaa'), [new Secret('sk-abc/25+aaaaaa')]) ?? /(?!)/g

const injection = compileSavedSettings(
  patternSettings({
    ...SCOPE_DEFAULTS.injection_detection,
    sensitivity: 'high',
    custom_patterns: ['project[ -]falcon', '\\bticket-\\d{4}\\b'],
    whitelist_patterns: ['harmless'],
  }),
)
const scan = (
  name: string,
  content_type: string | null,
  frame: (text: string) => string = String,
): Subject =>
  subject(
    `scan: ${name}`,
    BODY_BYTES,
    (text) => Buffer.from(frame(text)),
    (bytes) => scanRequest({ ...BODILESS, body: bytes, content_type }, injection),
  )
const BODILESS = {
  body: null,
  content_type: null,
  content_encoding: null,
  method: 'POST',
  base_path: '',
  path: '/v1/chat/completions',
  query: '',
  headers: [],
} as const
const SCANS: readonly Subject[] = [
  scan('text', 'text/plain'),
  scan('JSON', 'application/json'),
  scan('JSON, a string', 'application/json', (text) => `{"a":${json(text)}}`),
  scan('JSON, strings', 'application/json', (text) => JSON.stringify(text.match(/.{1,40}/gsu))),
  scan('form', FORM),
  scan('multipart', PART, (text) => `--b\r\n\r\n${text}`),
  scan('XML', 'application/xml', (text) => `<a>${text}</a>`),
  scan('no type', null),
  subject(
    'scan: path, query, headers',
    HEADERS_BYTES,
    (text) => [':path', 'query', 'x-note', 'cookie'].map((name) => ({ name, value: text })),
    ([path, query, ...headers]) =>
      scanRequest(
        {
          ...BODILESS,
          path: `/${path?.value}`,
          query: query?.value ?? '',
          headers: headers.map(({ name, value }) => [name, value] as const),
        },
        injection,
      ),
  ),
  subject(
    'scan: response',
    BODY_BYTES,
    (text) => Buffer.from(text),
    (bytes) =>
      scanResponseBody(
        { body: bytes, content_type: 'application/json', content_encoding: null },
        injection,
      ),
  ),
  subject('masking', HEADERS_BYTES, String, maskSecrets),
]

const egress = new AddressPolicy([])
const entry = (text: string) =>
  ({ event: 'request_allowed', endpoint: text, data: { text } }) as never
const ADMIN: readonly Subject[] = [
  subject(
    'admin: base URL',
    2_048,
    (text) => `https://api.example.com/${text}`,
    (url) => parseBaseUrl(url),
  ),
  subject('admin: host of a base URL', 2_048, (text) => `https://${text}/v1`, parseBaseUrl),
  subject('admin: path of a rule', 2_048, (text) => `/${text}`, parsePathPattern),
  subject(
    'admin: webhook URL',
    2_048,
    (text) => `https://${text}`,
    (url) => checkWebhookUrl(url, egress),
  ),
  subject('admin: webhook URL, hidden', 2_048, (text) => `https://a/${text}`, hideWebhookUrl),
  subject(
    'admin: webhook URL in an error',
    2_048,
    (text) => [{ name: text, value: `https://a/${encoded(text)}` }],
    ([error]) => hideUrlParts(error?.name ?? '', error?.value ?? ''),
  ),
  subject('admin: reference', 2_048, (text) => `vault:${text}`, parseReference),
  subject('admin: bearer token', HEADERS_BYTES, header, readBearer),
  subject('admin: accepted encoding', HEADERS_BYTES, header, acceptedEncoding),
  subject('admin: time', 64, String, readTime),
  subject('admin: search of the log', PATH_BYTES, String, (text) => {
    const filter = readFilter({ q: text.slice(0, 200) } as never)
    return filter.ok && matchesFilter(filter.filter, entry(text), 0)
  }),
  subject(
    'admin: scopes',
    2_048,
    (text) => `/${text}`,
    (path) => compileScopes([aScope({ rules: [{ methods: ['*'], paths: [path] }] })]),
  ),
]

export const SUBJECTS: readonly Subject[] = [
  ...ADMISSION,
  ...CALLER,
  ...BODIES,
  ...APPROVALS,
  ...OAUTH,
  ...TOOLS,
  ...RESPONSES,
  ...SCANS,
  ...ADMIN,
]
