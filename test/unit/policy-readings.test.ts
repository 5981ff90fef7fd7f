import assert from 'node:assert/strict'
import { test } from 'node:test'
import { explainCall } from '../../admin/try/explain-call.ts'
import fc from 'fast-check'
import type { Integration, ScopeRule } from '../../core/catalogue/model.ts'
import { compileIntegrations } from '../../core/decision/compile-integrations.ts'
import { compileScopes } from '../../core/decision/compile-scopes.ts'
import { foldCompatible } from '../../core/request/fold-compatible.ts'
import { matchIntegration } from '../../core/decision/match-integration.ts'
import { parseBaseUrl } from '../../core/request/parse-base-url.ts'
import { parseTarget } from '../../core/request/parse-target.ts'
import { repetitions } from '../kit/repetitions.ts'
import { aScope, anAgent, anIntegration, targetOf } from './policy-kit.ts'

const latin1 = (text: string): string => Buffer.from(text, 'utf8').toString('latin1')

function answerFor(
  rules: readonly ScopeRule[],
  method: string,
  path: string,
  change: Partial<Integration> = {},
): string {
  const { error, details } = explainCall({
    agent: { agent: anAgent(), killed_at: null, scopes: compileScopes([aScope({ rules })]) },
    now_ms: 0,
    integrations: compileIntegrations([
      anIntegration('https://x', { integration_id: 'int_a', ...change }),
    ]),
    method,
    url: `https://x${path}`,
  })
  const reason = error === 'permission_denied' || error === 'invalid_target_url'
  return error === null ? 'allowed' : reason ? String(details['reason']) : error
}

/** `details.refused_reading` of a call. */
function readingOf(rules: readonly ScopeRule[], method: string, path: string): unknown {
  const { details } = explainCall({
    agent: { agent: anAgent(), killed_at: null, scopes: compileScopes([aScope({ rules })]) },
    now_ms: 0,
    integrations: compileIntegrations([anIntegration('https://x', { integration_id: 'int_a' })]),
    method,
    url: `https://x${path}`,
  })
  return details['refused_reading']
}

test('a refusal names the reading that is not allowed, and only where the path as written is', () => {
  const key = `sk_live_${'4eC39HqLyjWDarjtT1zdp7dc'}`
  const rows: [method: string, path: string, expected: string | undefined][] = [
    ['GET', '/items/1%2fsecret', 'GET /items/1/secret'],
    ['GET', '/items/1%252fsecret', 'GET /items/1/secret'],
    ['GET', '/items/1%2f%C3%BC', 'GET /items/1/ü'],
    ['GET', '/items/1', undefined],
    ['GET', '/other/1%2fsecret', undefined],
    ['POST', '/items/1%2fsecret', undefined],
  ]
  for (const [method, path, expected] of rows)
    assert.equal(readingOf(ITEMS, method, path), expected, path)
  const secrets = [
    `/items/1%2f${key}`,
    '/items/Bearer%20abcdefgh%2Fijklmnopqrst%2Fuvwxyz012345',
    '/items/4111%2F1111%2F1111%2F1111',
    '/items/token=abcdefghij%26klmnopqrst%2fx',
  ]
  for (const path of secrets) assert.equal(readingOf(ITEMS, 'GET', path), undefined, path)
  assert.equal(readingOf(ITEMS, 'GET', '/items/1%2f%E2%80%AEx'), 'GET /items/1/%E2%80%AEx')
})

const ITEMS = [{ methods: ['GET'], paths: ['/items/*'] }]

test('threat 28: one segment of a rule never lets an encoded slash reach a path below', () => {
  const rows: [path: string, expected: string][] = [
    ['/items/1', 'allowed'],
    ['/items/1/', 'allowed'],
    ['/items/1%2fsecret', 'path_not_allowed'],
    ['/items/1%2Fsecret', 'path_not_allowed'],
    ['/items/1%252fsecret', 'path_not_allowed'],
    ['/items/1%25252Fsecret', 'path_not_allowed'],
    ['/items/1%2525252fsecret', 'path_not_allowed'],
    ['/items/1%252525252fsecret', 'encoded_too_deep'],
    ['/items/1%25%32%66secret', 'path_not_allowed'],
    ['/items/%31%2f%73ecret', 'path_not_allowed'],
    ['/items/1%2fsecret/', 'path_not_allowed'],
    ['/items/1%2fsecret%2f', 'path_not_allowed'],
    ['/items/1%2f%2fsecret', 'path_not_allowed'],
    ['/items/%2f1%2fsecret', 'path_not_allowed'],
    ['/items/1;a%2fsecret', 'path_not_allowed'],
    ['/items/1;%2fsecret;b', 'path_not_allowed'],
    ['/items/1%3b%2fsecret', 'path_not_allowed'],
    ['/items/1／secret', 'path_not_allowed'],
    ['/items/1%EF%BC%8Fsecret', 'path_not_allowed'],
    ['/items/1%25EF%25BC%258Fsecret', 'path_not_allowed'],
    ['/items/1％2fsecret', 'path_not_allowed'],
    ['/items/1％２ｆsecret', 'path_not_allowed'],
    ['/items/a℀b', 'path_not_allowed'],
    ['/items/%2f', 'path_not_allowed'],
    ['/items/%2f%2f', 'path_not_allowed'],
    ['/items%2f1', 'path_not_allowed'],
    ['/items%2f1%2fsecret', 'path_not_allowed'],
    ['/%2fitems/1', 'path_not_allowed'],
    ['/items/..%2fsecret', 'dot_segment'],
    ['/items/1%5csecret', 'backslash'],
    // The split reading is one segment as well: a trailing slash matches as without.
    ['/items/1%2f', 'allowed'],
  ]
  for (const [path, expected] of rows)
    assert.deepEqual([path, answerFor(ITEMS, 'GET', path)], [path, expected])
})

test('threat 28: an encoded slash passes where the scope allows the split path too', () => {
  const rows: [rules: string[], path: string, expected: string][] = [
    [['/items/**'], '/items/1%2fsecret', 'allowed'],
    [['/**'], '/urls/https%3A%2F%2Fx.example%2Fy', 'allowed'],
    [['/urls/*'], '/urls/https%3A%2F%2Fx.example%2Fy', 'path_not_allowed'],
    [['/items/*', '/items/*/public'], '/items/1%2fpublic', 'allowed'],
    [['/items/*', '/items/*/public'], '/items/1%2fsecret', 'path_not_allowed'],
    [['/items/*', '/items/*/public'], '/items/1%2f%2fpublic', 'path_not_allowed'],
    [['/items/*', '/items/*/*'], '/items/1%252f2', 'allowed'],
    [['/items/*', '/items/*/*'], '/items/1%2f2%2f3', 'path_not_allowed'],
    // Decoded once there are two segments, decoded twice three.
    [['/items/*', '/items/*/*/*'], '/items/1%2f2%252f3', 'path_not_allowed'],
    [['/items/*', '/items/*/*', '/items/*/*/*'], '/items/1%2f2%252f3', 'allowed'],
    [['/a%2Fb'], '/a%2Fb', 'path_not_allowed'],
    [['/a%2Fb', '/a/b'], '/a%2Fb', 'allowed'],
    [['/a%2Fb', '/a/b'], '/a%252fb', 'allowed'],
    [['/a/b'], '/a%2Fb', 'path_not_allowed'],
    [['/a/**/z'], '/a/b%2fc/z', 'allowed'],
    [['/a/**/z'], '/a/b%2fz', 'path_not_allowed'],
    [['/a/*/z', '/a/*/*/z'], '/a/b%2fc/z', 'allowed'],
    [['/a/*/z'], '/a/b%2fc/z', 'path_not_allowed'],
    [['/files/*', '/files/*/*'], '/files/入力／出力', 'allowed'],
    [['/files/*'], '/files/入力／出力', 'path_not_allowed'],
    [['/files/*'], '/files/入力・出力。md', 'allowed'],
    [['/files/*'], '/files/report．txt', 'allowed'],
    [['/files/*'], '/files/100％', 'allowed'],
  ]
  for (const [paths, path, expected] of rows)
    assert.deepEqual(
      [paths, path, answerFor([{ methods: ['GET'], paths }], 'GET', path)],
      [paths, path, expected],
    )
})

// Apache with `RewriteRule ^(.*)$ index.php?url=$1 [QSA]` gives PHP what each of these paths says of a parameter.
test('threat 28: a path that contains an override for a front controller needs a scope for the overridden call', () => {
  const rules = [{ methods: ['POST'], paths: ['/items/*'] }]
  const rows: [path: string, expected: string][] = [
    ['/items/1&_method=DELETE', 'method_not_allowed'],
    ['/items/1%26_method=DELETE', 'method_not_allowed'],
    ['/items/1%2526_method=DELETE', 'method_not_allowed'],
    ['/items/1%26_method%3dDELETE', 'method_not_allowed'],
    ['/items/1%26%5fmethod%3dDELETE', 'method_not_allowed'],
    ['/items/1%26.method=DELETE', 'method_not_allowed'],
    ['/items/1%26+_method=DELETE', 'method_not_allowed'],
    ['/items/1%26_method[]=DELETE', 'method_not_allowed'],
    ['/items/1%26a=b%26_method=DELETE', 'method_not_allowed'],
    ['/items/1%3f_method=DELETE', 'method_not_allowed'],
    ['/items/1%253F_method=DELETE', 'method_not_allowed'],
    ['/items/1%3fa%26_method=PUT', 'method_not_allowed'],
    ['/items/1%26method=delete', 'method_not_allowed'],
    ['/items/1%26x-http-method-override=delete', 'method_not_allowed'],
    ['/items/1＆_method=DELETE', 'method_not_allowed'],
    ['/items/1？_method=DELETE', 'method_not_allowed'],
    ['/items/1%26url=admin', 'path_not_allowed'],
    ['/items/1%26_url=%2ftmp', 'path_not_allowed'],
    ['/items/1%26q=admin', 'path_not_allowed'],
    ['/items/1%26r=admin', 'path_not_allowed'],
    ['/items/1%26route=admin', 'path_not_allowed'],
    ['/items/1%26a=b%26path=admin', 'path_not_allowed'],
    // What names no other call is part of a name.
    ['/items/a&b', 'allowed'],
    ['/items/a%26b=c', 'allowed'],
    ['/items/AT%26T', 'allowed'],
    ['/items/a%26method=card', 'allowed'],
    ['/items/what%3F', 'allowed'],
    ['/items/%23general', 'allowed'],
    ['/items/1%26_method=POST', 'allowed'],
    ['/items/1%26payment_method=DELETE', 'allowed'],
  ]
  for (const [path, expected] of rows)
    assert.deepEqual([path, answerFor(rules, 'POST', path)], [path, expected])
})

test('threat 28: a path that an upstream may end at a decoded sign is allowed only where what is left is', () => {
  const paths = ['/users/*/posts', '/rooms/**']
  const rows: [path: string, expected: string][] = [
    ['/users/1/posts', 'allowed'],
    ['/users/1%23/posts', 'path_not_allowed'],
    ['/users/1%3f/posts', 'path_not_allowed'],
    ['/users/1%3F/posts', 'path_not_allowed'],
    ['/users/1%26/posts', 'path_not_allowed'],
    ['/users/1&/posts', 'path_not_allowed'],
    ['/users/1%2523/posts', 'path_not_allowed'],
    ['/users/1%252525253f/posts', 'encoded_too_deep'],
    ['/users/1%25252523/posts', 'path_not_allowed'],
    ['/users/%23/posts', 'path_not_allowed'],
    ['/users/%3f/posts', 'path_not_allowed'],
    ['/users/1%23x%26y/posts', 'path_not_allowed'],
    ['/users/1＃/posts', 'path_not_allowed'],
    ['/users/1？/posts', 'path_not_allowed'],
    ['/users/1%3b%23/posts', 'path_not_allowed'],
    ['/users/1%2f%23/posts', 'path_not_allowed'],
    ['/rooms/%23general/messages', 'allowed'],
    ['/rooms/AT%26T/messages', 'allowed'],
  ]
  const rules = [{ methods: ['DELETE'], paths }]
  for (const [path, expected] of rows)
    assert.deepEqual([path, answerFor(rules, 'DELETE', path)], [path, expected])
  const both = [{ methods: ['DELETE'], paths: ['/users/*', '/users/*/posts'] }]
  assert.equal(answerFor(both, 'DELETE', '/users/1%23/posts'), 'allowed')
  const keeps = { allow_encoded_slashes: true }
  assert.equal(answerFor(rules, 'DELETE', '/users/1%23/posts', keeps), 'allowed')
})

test('threat 28: a method that the split path lacks is named as missing', () => {
  const rules = [
    { methods: ['GET', 'DELETE'], paths: ['/items/*'] },
    { methods: ['GET'], paths: ['/items/*/*'] },
  ]
  assert.equal(answerFor(rules, 'GET', '/items/1%2f2'), 'allowed')
  assert.equal(answerFor(rules, 'DELETE', '/items/1%2f2'), 'method_not_allowed')
})

test('an integration with allow_encoded_slashes takes an encoded slash for part of a name', () => {
  const gitlab = { allow_encoded_slashes: true }
  const rules = [{ methods: ['GET'], paths: ['/projects/*', '/projects/group%2Fproject/issues'] }]
  const rows: [path: string, expected: string][] = [
    ['/projects/group%2Fproject', 'allowed'],
    ['/projects/group%252Fproject', 'allowed'],
    ['/projects/group%2Fproject/issues', 'allowed'],
    ['/projects/group%2Fother/issues', 'path_not_allowed'],
    ['/projects/group/project', 'path_not_allowed'],
    ['/projects/..%2Fproject', 'dot_segment'],
    ['/projects/a%5Cb', 'backslash'],
  ]
  for (const [path, expected] of rows)
    assert.deepEqual([path, answerFor(rules, 'GET', path, gitlab)], [path, expected])
  for (const absent of [{}, { allow_encoded_slashes: false }])
    assert.equal(
      answerFor(rules, 'GET', '/projects/group%2Fproject', absent),
      'path_not_allowed',
      JSON.stringify(absent),
    )
})

test('threat 28: no path that a scope allows leaves it by decoding a slash', () => {
  const path = fc
    .array(
      fc.constantFrom('1', 'secret', '%2f', '%252F', '%25252f', '／', '％2f', ';', '%3b', '/'),
      {
        minLength: 1,
        maxLength: 7,
      },
    )
    .map((parts) => `/items/${parts.join('')}`)
  fc.assert(
    fc.property(path, (text) => {
      if (answerFor(ITEMS, 'GET', text) !== 'allowed') return
      let seen = text
      for (let round = 0; round < 6; round++) {
        const segments = seen.split('/').filter((part) => part !== '')
        assert.equal(segments.length, 2, `${text} is ${seen} after ${round} rounds`)
        seen = decodeURIComponent(seen).normalize('NFKC')
      }
    }),
    { numRuns: repetitions(3_000) },
  )
})

test('threat 28: names that fold to dots, slashes and backslashes are refused like the plain ones', () => {
  const rows: [path: string, expected: string][] = [
    ['/items/．．/secret', 'dot_segment'],
    ['/items/．./secret', 'dot_segment'],
    ['/items/．', 'dot_segment'],
    ['/items/․․/secret', 'dot_segment'],
    ['/items/﹒﹒/secret', 'dot_segment'],
    ['/items/‥/secret', 'dot_segment'],
    ['/items/︰/secret', 'dot_segment'],
    ['/items/%EF%BC%8E%EF%BC%8E/secret', 'dot_segment'],
    ['/items/%25EF%25BC%258E%25EF%25BC%258E/secret', 'dot_segment'],
    ['/items/．．％２ｆsecret', 'dot_segment'],
    ['/items/％2e％2e/secret', 'dot_segment'],
    ['/items/％252e％252e/secret', 'dot_segment'],
    ['/items/..／secret', 'dot_segment'],
    ['/items/．．／secret', 'dot_segment'],
    ['/items/1／..／2', 'dot_segment'],
    ['/items/..；a/secret', 'dot_segment'],
    ['/items/..\u037ea/secret', 'dot_segment'],
    ['/items/.\u200b./secret', 'dot_segment'],
    ['/items/.\u00ad./secret', 'dot_segment'],
    ['/items/\ufeff../secret', 'dot_segment'],
    ['/items/.\ufe0f./secret', 'dot_segment'],
    ['/items/..%20/secret', 'dot_segment'],
    ['/items/%20../secret', 'dot_segment'],
    ['/items/..%c2%a0/secret', 'dot_segment'],
    ['/items/..∕secret', 'dot_segment'],
    ['/items/1⁄..⁄secret', 'dot_segment'],
    ['/items/٪2e٪2e/secret', 'dot_segment'],
    ['/items/1∕secret', 'path_not_allowed'],
    ['/items/1⁄secret', 'path_not_allowed'],
    ['/items/1⧸secret', 'path_not_allowed'],
    ['/items/1٪2fsecret', 'path_not_allowed'],
    ['/items/1%25E2%2588%2595secret', 'path_not_allowed'],
    ['/items/a∖b', 'backslash'],
    ['/items/a⧵b', 'backslash'],
    ['/items/a⧹b', 'backslash'],
    ['/items/½', 'allowed'],
    ['/items/50٪', 'allowed'],
    ['/items/a＼b', 'backslash'],
    ['/items/a﹨b', 'backslash'],
    ['/items/..＼secret', 'backslash'],
    ['/items/％5csecret', 'backslash'],
    ['/items/％00', 'control_character'],
    ['/items/％ff', 'invalid_utf8'],
    ['/items/％2525252525', 'encoded_too_deep'],
    ['/items/…', 'allowed'],
    ['/items/...', 'allowed'],
    ['/items/１．２', 'allowed'],
    ['/items/a b'.replace(' ', '%20'), 'allowed'],
  ]
  for (const [path, expected] of rows)
    assert.deepEqual([path, answerFor(ITEMS, 'GET', path)], [path, expected])
})

/** Unicode assigns characters up to here, and from E0000 on some that fold to nothing else. */
const ASSIGNED_END = 0x4_0000

/** All characters beyond ASCII, without the blocks in which none folds to what is asked for. */
function* codesThatMayFoldTo(sign: RegExp): Generator<number> {
  const BLOCK = 256
  for (let first = 0; first < ASSIGNED_END; first += BLOCK) {
    if (first >= 0xd800 && first <= 0xdfff) continue
    const codes: number[] = []
    let text = ''
    for (let code = Math.max(first, 0x80); code < first + BLOCK; code++) {
      codes.push(code)
      // Nothing composes with a line feed.
      text += `${String.fromCodePoint(code)}\n`
    }
    if (sign.test(text.normalize('NFKC'))) yield* codes
  }
}

test('threat 28: no character of Unicode that folds to a dot, slash or backslash is missed', () => {
  let dots = 0
  let slashes = 0
  let backslashes = 0
  for (const code of codesThatMayFoldTo(/[./\\]/)) {
    const character = String.fromCodePoint(code)
    const folded = character.normalize('NFKC')
    if (folded === '.' || folded === '..') {
      dots++
      const climb = folded === '.' ? character.repeat(2) : character
      assert.equal(answerFor(ITEMS, 'GET', `/items/${climb}/x`), 'dot_segment', code.toString(16))
    }
    if (folded.includes('/')) {
      slashes++
      assert.equal(
        answerFor(ITEMS, 'GET', `/items/a${character}b`),
        'path_not_allowed',
        code.toString(16),
      )
    }
    if (folded.includes('\\')) {
      backslashes++
      assert.equal(answerFor(ITEMS, 'GET', `/items/${character}`), 'backslash', code.toString(16))
    }
  }
  // Unicode may grow; fewer would mean that the fold does nothing.
  assert.ok(dots >= 5 && slashes >= 5 && backslashes >= 2, `${dots} ${slashes} ${backslashes}`)
})

test('a text of ASCII is its own fold', () => {
  const text = 'ordinary/Path.9_~%2F'
  assert.equal(foldCompatible(text), text)
})

const BASES = [
  'https://x',
  'https://x/v1',
  'https://x/v1/admin',
  'https://x/v1/admin/audit',
  'https://x/Legacy/API',
  'https://y/v1/admin',
  'https://z/projects/a%2Fb',
  'https://z',
]
const matchOf = (bases: readonly string[], url: string): string => {
  const { integration, is_ambiguous } = matchIntegration(
    compileIntegrations(bases.map((base) => anIntegration(base))),
    targetOf(url),
  )
  return is_ambiguous ? 'ambiguous' : (integration?.base.base_url ?? 'none')
}

test('threat 28: a target that another reading gives to another integration is ambiguous', () => {
  const rows: [url: string, expected: string][] = [
    ['https://x/v1/admin/x', 'https://x/v1/admin'],
    ['https://x/v1/admin/audit/x', 'https://x/v1/admin/audit'],
    ['https://X./v1/admin', 'https://x/v1/admin'],
    ['https://x/%76%31/%61dmin/x', 'https://x/v1/admin'],
    ['https://x/v1/Users/5', 'https://x/v1'],
    ['https://x/v2/Admin/5', 'https://x'],
    ['https://x/v1/a%2fb', 'https://x/v1'],
    ['https://x/v1/users%2fadmin', 'https://x/v1'],
    ['https://x/V1/admin/x', 'ambiguous'],
    ['https://x/v1/Admin/x', 'ambiguous'],
    ['https://x/v1/ADMIN/audit/x', 'ambiguous'],
    ['https://x/v1/admin/Audit/x', 'ambiguous'],
    ['https://x/v1%2fadmin/x', 'ambiguous'],
    ['https://x/v1%252fadmin/x', 'ambiguous'],
    ['https://x/v1%2525252fadmin/x', 'ambiguous'],
    ['https://x/V1%2FAdmin/x', 'ambiguous'],
    ['https://x/v1/admin%2faudit/x', 'ambiguous'],
    ['https://x/v1%2fadmin%2faudit', 'ambiguous'],
    ['https://x/v1%2fadmin%252faudit', 'ambiguous'],
    ['https://x/v1%2f%2fadmin/x', 'ambiguous'],
    ['https://x/%2fv1/admin/x', 'ambiguous'],
    ['https://x/v1//admin/x', 'ambiguous'],
    ['https://x//v1/x', 'ambiguous'],
    ['https://x/v1/admin;a=1/x', 'ambiguous'],
    ['https://x/v1;a/admin/x', 'ambiguous'],
    ['https://x/v1/;a/admin/x', 'ambiguous'],
    ['https://x/v1/admin./x', 'ambiguous'],
    ['https://x/v1/admin%20/x', 'ambiguous'],
    ['https://x/v1/admin%2e%20/x', 'ambiguous'],
    ['https://x/v1/ａdmin/x', 'ambiguous'],
    ['https://x/ｖ１/x', 'ambiguous'],
    ['https://x/v1／admin/x', 'ambiguous'],
    ['https://x/v1/adm%C4%B1n/x', 'ambiguous'],
    ['https://X.:443/V1/x', 'ambiguous'],
    // As written no integration covers these, but folded one does.
    ['https://y/V1/admin/x', 'ambiguous'],
    ['https://y/v1%2fadmin', 'ambiguous'],
    ['https://y/v1', 'none'],
    ['https://y/v1/administrators', 'none'],
    ['https://w/V1/admin', 'none'],
    // The base URL itself has capitals.
    ['https://x/Legacy/API/x', 'https://x/Legacy/API'],
    ['https://x/legacy/api/x', 'ambiguous'],
    ['https://x/Legacy/api/x', 'ambiguous'],
    // The base URL itself has an encoded slash: an upstream that splits there reads both alike.
    ['https://z/projects/a%2fb/x', 'https://z/projects/a%2Fb'],
    ['https://z/projects/a/b/x', 'ambiguous'],
    ['https://z/projects/A%2Fb/x', 'ambiguous'],
    ['https://z/projects/c%2Fd', 'https://z'],
  ]
  for (const [url, expected] of rows) assert.deepEqual([url, matchOf(BASES, url)], [url, expected])
})

test('two base URLs that differ in case alone are both reachable, each by its own spelling', () => {
  const bases = ['https://x/v1', 'https://x/V1', 'https://x/V1/admin']
  const rows: [url: string, expected: string][] = [
    ['https://x/v1/x', 'https://x/v1'],
    ['https://x/V1/x', 'https://x/V1'],
    ['https://x/V1/admin/x', 'https://x/V1/admin'],
    ['https://x/v1/admin/x', 'ambiguous'],
    ['https://x/V1/Admin/x', 'ambiguous'],
  ]
  for (const [url, expected] of rows) assert.deepEqual([url, matchOf(bases, url)], [url, expected])
})

test('a match is never ambiguous for a plain target, and a folded spelling never changes it silently', () => {
  const name = fc.constantFrom('a', 'b', 'v1')
  const path = (part: fc.Arbitrary<string>) =>
    fc.array(part, { maxLength: 4 }).map((parts) => parts.map((p) => `/${p}`).join(''))
  const bases = fc.array(path(name), { maxLength: 8 })
  const spelled = fc.constantFrom('a', 'b', 'v1', 'A', 'V1', 'a%2fb', 'v1%2Fa', 'B;x', 'b.', 'ａ')
  fc.assert(
    fc.property(bases, path(name), path(spelled), (paths, plain, odd) => {
      const stored = [...new Set(paths)].map((p) => `https://x${p}`)
      assert.notEqual(matchOf(stored, `https://x${plain}`), 'ambiguous')
      const plainly = decodeURIComponent(odd)
        .normalize('NFKC')
        .toLowerCase()
        .replace(/;[^/]*|\.(?=\/|$)/g, '')
      const asOdd = matchOf(stored, `https://x${odd}`)
      if (asOdd !== 'ambiguous') assert.equal(asOdd, matchOf(stored, `https://x${plainly}`))
    }),
    { numRuns: repetitions(1_000) },
  )
})

test('explain answers ambiguous_target with the integration that the spelling names', () => {
  const integrations = compileIntegrations(BASES.map((base) => anIntegration(base)))
  const explained = (url: string) =>
    explainCall({
      agent: { agent: anAgent(), killed_at: null, scopes: compileScopes([]) },
      integrations,
      now_ms: 0,
      method: 'DELETE',
      url,
    })
  const { answer, error, integration, details } = explained('https://x/V1/admin/x')
  assert.deepEqual(
    [answer, error, integration?.base_url, details],
    ['refused', 'ambiguous_target', 'https://x', { base_url: 'https://x/V1' }],
  )
  // What is wrong with the target itself is said first.
  assert.equal(explained('https://x//v1/admin').error, 'invalid_target_url')
  assert.equal(explained('https://y/V1/admin').error, 'ambiguous_target')
  assert.equal(explained('https://y/v2').error, 'integration_not_found')
})

test('a base URL keeps its own rules: dots that fold are refused there too', () => {
  for (const text of ['https://x/．．/v1', 'https://x/a＼b', 'https://x/..%20'])
    assert.equal(parseBaseUrl(text).ok, false, text)
})

test('the readings of a hostile path stay within bounds', () => {
  const path = '%25252f'.repeat(2_000)
  assert.deepEqual(parseTarget(`/https://x/${path}`), { ok: false, reason: 'too_many_segments' })
  const parsed = parseTarget(`/${latin1(`https://x/${'a%2fb%252fc/'.repeat(100)}`)}`)
  assert.ok(parsed.ok)
  assert.ok(parsed.target.split_readings.length <= 10)
})
