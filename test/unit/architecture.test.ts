import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { test } from 'node:test'
import { root } from '../../core/system/root.ts'

/** The parts of `core` that everything else may use. */
const CORE = [
  'core',
  'core/bounded',
  'core/credential',
  'core/decision',
  'core/mcp',
  'core/request',
  'core/scanner',
]

/** Who may import whom. The longest matching prefix wins; `npm` and `node` stand for packages and built-ins. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: [...CORE, 'node', 'npm'],
  'core/mcp': ['core/mcp', 'core/bounded', 'core/request', 'node:buffer'],
  // The native calls whose time is not linear, each behind a bound.
  'core/bounded': ['core/bounded', 'node:url'],
  // Declarations, which compute without I/O.
  'core/credential': [
    'core/bounded/parse-url.ts',
    'core/credential',
    'core/keys/secret.ts',
    'node:crypto',
  ],
  // How a request can be read, and the rules: pure functions of bytes and facts, with no connection, file or process.
  'core/request': [
    'core',
    'core/bounded',
    'core/credential',
    'core/request',
    'node:buffer',
    'node:net',
  ],
  'core/decision': [
    'core',
    'core/bounded',
    'core/credential',
    'core/decision',
    'core/mcp',
    'core/request',
    'node:buffer',
    'node:net',
  ],
  'core/scanner': ['core', 'core/bounded', 'core/request', 'core/scanner', 'node', 'npm'],
  'ext-proc': ['ext-proc', ...CORE, 'node', 'npm'],
  admin: ['admin', ...CORE, 'node', 'npm'],
  envoy: ['envoy', 'core', 'node', 'npm'],
  cli: ['cli', 'envoy', 'core', 'core/credential', 'core/scanner', 'admin', 'node', 'npm'],
}
/** What of `core` a decision may use: types and closed tables, nothing that speaks to anybody. */
const DECISIONS_MAY_USE = [
  'core/keys/secret.ts',
  'core/keys/api-key.ts',
  'core/system/short-text.ts',
]

const homes = Object.keys(MAY_IMPORT).sort((a, b) => b.length - a.length)
const homeOf = (path: string): string | undefined =>
  homes.find((home) => path === home || path.startsWith(`${home}/`))

const sources = ['core', 'ext-proc', 'admin', 'envoy', 'cli'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.startsWith('console/'))
    .map((path) => ({
      path: `${folder}/${path}`,
      text: readFileSync(join(root, folder, path), 'utf8'),
    })),
)

const importsOf = (text: string): string[] =>
  [...text.matchAll(/(?:\bfrom|\bimport\(|^import)\s*'([^']+)'/gm)].map(
    ([, specifier = '']) => specifier,
  )

/** A folder may allow all built-ins, or name those that it may use. */
const builtIn = (specifier: string, allowed: readonly string[]): string =>
  specifier.startsWith('node:') ? (allowed.includes('node') ? 'node' : specifier) : 'npm'

const fileOf = (file: string, specifier: string): string | null =>
  specifier.startsWith('.') ? relative(root, resolve(root, dirname(file), specifier)) : null

test('imports point one way: core imports no other folder, ext-proc and admin never import each other', () => {
  assert.ok(sources.length > 100)
  for (const { path, text } of sources) {
    const allowed = MAY_IMPORT[homeOf(path) ?? '']
    assert.ok(allowed, `${path} has no home`)
    for (const specifier of importsOf(text)) {
      const file = fileOf(path, specifier)
      const target = file === null ? builtIn(specifier, allowed) : (homeOf(file) ?? file)
      if (file !== null && allowed.includes(file)) continue
      assert.ok(allowed.includes(target), `${path} may not import ${specifier}`)
    }
  }
})

/**
 * Where the folders directly below form no circle, however long. A file that stands at the root itself counts as a folder
 * of its own.
 */
const NO_CIRCLES_BELOW = ['admin', 'cli', 'core', 'ext-proc']

for (const area of NO_CIRCLES_BELOW)
  test(`the folders of ${area} import each other in no circle`, () => {
    const graph = folderGraph(area)
    assert.ok(graph.size > 5)
    const circles = [...graph.keys()].flatMap((folder) => {
      const way = wayBack(graph, folder)
      return way === null ? [] : [way.join(' -> ')]
    })
    assert.deepEqual(circles, [])
  })

test('a circle of folders is found, also a long one', () => {
  const graph = new Map([
    ['a', new Set(['b'])],
    ['b', new Set(['c', 'd'])],
    ['c', new Set<string>()],
    ['d', new Set(['a'])],
  ])
  assert.deepEqual(wayBack(graph, 'a'), ['a', 'b', 'd', 'a'])
  assert.deepEqual(wayBack(graph, 'd'), ['d', 'a', 'b', 'd'])
  assert.equal(wayBack(graph, 'c'), null)
})

/** Which folder below an area imports which others there. */
function folderGraph(area: string): Map<string, Set<string>> {
  const folderOf = (path: string): string => path.split('/').slice(0, 2).join('/')
  const graph = new Map<string, Set<string>>()
  for (const { path, text } of sources.filter((source) => source.path.startsWith(`${area}/`))) {
    const from = folderOf(path)
    const used = graph.get(from) ?? new Set()
    graph.set(from, used)
    for (const specifier of importsOf(text)) {
      const file = fileOf(path, specifier)
      if (file?.startsWith(`${area}/`) && folderOf(file) !== from) used.add(folderOf(file))
    }
  }
  return graph
}

/** The shortest way from a folder back to itself; null when there is none. */
function wayBack(
  graph: ReadonlyMap<string, ReadonlySet<string>>,
  start: string,
): readonly string[] | null {
  const ways: (readonly string[])[] = [[start]]
  const seen = new Set<string>()
  for (const way of ways)
    for (const next of graph.get(way.at(-1) ?? '') ?? []) {
      if (next === start) return [...way, start]
      if (!seen.has(next)) ways.push([...way, next])
      seen.add(next)
    }
  return null
}

test('what answers Envoy is apart from what decides', () => {
  const of = (room: string) => sources.filter(({ path }) => path.startsWith(`ext-proc/${room}/`))
  for (const { path, text } of [...of('envoy'), ...of('verdict')])
    for (const specifier of importsOf(text)) {
      const file = fileOf(path, specifier)
      const isVerdict = path.startsWith('ext-proc/verdict/')
      assert.ok(!(isVerdict && file === null), `${path} may not import ${specifier}`)
      if (!file?.startsWith('ext-proc/') || file.startsWith(dirname(path))) continue
      if (!isVerdict && file.startsWith('ext-proc/grpc/')) continue
      // A verdict is written in the terms of the wire, which are types.
      const isType = new RegExp(`import type [^'\n]*'${specifier}'`).test(text)
      assert.ok(isVerdict && isType, `${path} may not import ${specifier}`)
    }
})

test('the HTTP/2 server imports only built-ins', () => {
  const server = sources.filter(({ path }) => path.startsWith('ext-proc/http2/'))
  assert.ok(server.length > 0)
  for (const { path, text } of server)
    for (const specifier of importsOf(text)) {
      const isOwn = fileOf(path, specifier)?.startsWith('ext-proc/http2/') ?? false
      assert.ok(isOwn || specifier.startsWith('node:'), `${path} may not import ${specifier}`)
    }
})

test('a decision uses nothing that speaks to anybody', () => {
  const isDecision = (path: string): boolean => /^core\/(?:request|decision)\//.test(path)
  for (const { path, text } of sources.filter((source) => isDecision(source.path))) {
    for (const specifier of importsOf(text)) {
      const file = fileOf(path, specifier)
      if (
        file === null ||
        /^core\/(?:bounded|catalogue|credential|decision|masking|mcp|request)\//.test(file)
      )
        continue
      assert.ok(DECISIONS_MAY_USE.includes(file), `${path} may not import ${file}`)
    }
  }
})

/** Quadratic for some texts, or in what an expression compiles to. */
const NATIVE_CALLS =
  /\.normalize\(|new URL\(|URL\.(?:parse|canParse)\(|domainTo(?:ASCII|Unicode)\(|\.localeCompare\(|\bIntl\.|\.toLocale(?:Upper|Lower)Case\(/
/** The product's own expressions, and those of tenants, which are compiled in a scan process. */
const COMPILES_RE2 = [
  'core/masking/find-keys.ts',
  'core/masking/find-named-secrets.ts',
  'core/scanner/compile-settings.ts',
  'core/scanner/patterns/compile-patterns.ts',
]

test('native calls that are not linear are made where there is a bound in front of them', () => {
  const served = sources.filter(({ path }) => /^(?:core|ext-proc|admin)\//.test(path))
  const making = (call: RegExp): string[] =>
    served.filter(({ text }) => call.test(text)).map(({ path }) => path)
  assert.deepEqual(
    making(NATIVE_CALLS).filter((path) => !path.startsWith('core/bounded/')),
    [],
    'use core/bounded/',
  )
  assert.deepEqual(making(/new RE2\b/).sort(), COMPILES_RE2)
})

test('a secret is revealed in few places, each of which needs it in plaintext', () => {
  const revealing = sources.filter(({ text }) => text.includes('.reveal(')).map(({ path }) => path)
  assert.deepEqual(
    revealing.filter(
      // Each declaration puts its own credential into the request.
      (path) => !REVEALERS.includes(path) && !path.startsWith('core/credential/'),
    ),
    [],
  )
})

const REVEALERS = [
  // What a response is searched for.
  'ext-proc/call/fill-credential.ts',
  // An answer with a new key, kept sealed for ten minutes for a repeated POST.
  'admin/changes/kept-answers.ts',
  // The last four characters.
  'admin/integrations/integration-view.ts',
  'admin/webhooks/sign-delivery.ts',
  // Whether its form is valid.
  'admin/webhooks/webhook-view.ts',
  // The URL, to which deliveries are sent; only the role `admin` reads it.
  'admin/webhooks/webhook-secret.ts',
  // What an approver is shown of a call.
  'core/approval/sealed-excerpt.ts',
  'core/approval/request-state.ts',
  // From the old key to the new one.
  'core/keys/seal.ts',
  // The key of the CA of the forward proxy, which signs and is sent nowhere.
  'core/certificate/stored-authority.ts',
  // What verifies an archive, which is no credential.
  'core/store/stored-keys.ts',
  // What a link asks for, which is no credential.
  'core/store/connect-token.ts',
  // The private key of a client certificate, which is sealed again when other settings change.
  'admin/integrations/set-upstream.ts',
  // The same key, for Envoy.
  'ext-proc/upstream/write-cluster.ts',
  // User and password of the egress proxy, for that proxy and for the configuration of Envoy.
  'core/egress/open-tunnel.ts',
  'envoy/render-bootstrap.ts',
  // The client secret, for its own token endpoint.
  'core/token/ask-token.ts',
  // The tokens of a grant, for its own provider, and the verifier of a code.
  'core/oauth/access-token.ts',
  'core/oauth/grant.ts',
  'core/oauth/is-active-token.ts',
  'core/oauth/refresh-grant.ts',
  'core/oauth/revoke-token.ts',
  // Tokens of one agent: sealed, and sent to the provider that revokes them.
  'core/token/minted-token.ts',
  'admin/kill/revoke-at-source.ts',
  'admin/oauth/finish-consent.ts',
  'ext-proc/response/echo-forms.ts',
]

/** What the pages run of ours; all else that they name of the server is types. */
const SHARED_WITH_PAGES = [
  'core/catalogue/error-formats.ts',
  'core/activity/action-sentence.ts',
  'core/activity/entry-summary.ts',
  'core/activity/is-flood-entry.ts',
  'core/activity/words-of-action.ts',
  'core/catalogue/events.ts',
  'core/catalogue/model.ts',
  'core/catalogue/reasons.ts',
  'core/catalogue/selector-text.ts',
  'core/catalogue/templates/all.ts',
  'core/catalogue/templates/fill-template.ts',
  'core/catalogue/templates/snippets.ts',
  'core/catalogue/templates/template.ts',
  'core/decision/selector.ts',
  'core/mcp/tool-glob.ts',
  'core/system/unreadable-text.ts',
]

test('the dashboard is made for a browser: it runs itself, two packages and what it shares with the server, and never writes markup', () => {
  const folder = join(root, 'admin', 'console')
  const pages = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /\.tsx?$/.test(path),
  )
  assert.ok(pages.length > 30)
  for (const path of pages) {
    const text = readFileSync(join(folder, path), 'utf8')
    const run = text.replace(/^import type\b[^']*'[^']+'$/gm, '')
    for (const [, specifier = ''] of run.matchAll(/^(?:import\b[^']*|\} from )'([^']+)'/gm)) {
      const file = fileOf(`admin/console/${path}`, specifier)
      const isOurs =
        file === null
          ? specifier.startsWith('preact') || specifier === 'eventsource-parser'
          : file.startsWith('admin/console/') || SHARED_WITH_PAGES.includes(file)
      assert.ok(isOurs, `${path} may not run ${specifier}`)
    }
    // What callers wrote is text, never markup (threat model, rule 25); nothing outlives the page but the
    // session's halves, the chosen theme and form of times and, in its tab, unsaved changes of a scope.
    assert.doesNotMatch(text, /dangerouslySetInnerHTML|innerHTML|outerHTML|insertAdjacent/, path)
    const stores = /(local|session)Storage|indexedDB|document\.cookie/.test(text)
    assert.equal(
      stores,
      ['page-secret.ts', 'theme.ts', 'time-style.ts', 'use-draft.ts'].includes(path),
      `${path} may not keep anything`,
    )
  }
})

test('every Redis key is spelled in one file', () => {
  const spelling = sources.filter(({ text }) => text.includes('{agw}:')).map(({ path }) => path)
  assert.deepEqual(spelling, ['core/redis/redis-keys.ts'])
})

test('an exported name has one meaning: no two files export the same', () => {
  const EXPORTED = /^export (?:async )?(?:function\*?|const|class|type|interface) (\w+)/gm
  const homesOf = new Map<string, Set<string>>()
  for (const { path, text } of sources)
    for (const [, name = ''] of text.matchAll(EXPORTED))
      homesOf.set(name, (homesOf.get(name) ?? new Set()).add(path))
  assert.ok(homesOf.size > 1000)
  const shared = [...homesOf].filter(([, homes]) => homes.size > 1)
  assert.deepEqual(
    shared.map(([name, homes]) => [name, ...homes].join(' ')),
    [],
  )
})
