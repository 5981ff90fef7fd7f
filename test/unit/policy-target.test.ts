import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { baseUrlOfTarget } from '../../core/request/base-url-of-target.ts'
import { encodeSegment } from '../../core/request/encode-segment.ts'
import { foldCompatible } from '../../core/request/fold-compatible.ts'
import { parseBaseUrl } from '../../core/request/parse-base-url.ts'
import { parseTarget, type Target } from '../../core/request/parse-target.ts'
import { repetitions } from '../kit/repetitions.ts'

const latin1 = (text: string): string => Buffer.from(text, 'utf8').toString('latin1')

function target(url: string): Target {
  const parsed = parseTarget(`/${latin1(url)}`)
  assert.ok(parsed.ok, `${url}: ${parsed.ok ? '' : parsed.reason}`)
  return parsed.target
}

test('a target is canonical in scheme, host and port, and keeps the spelling of path and query', () => {
  const rows: [url: string, origin: string, raw_path: string, raw_query: string | null][] = [
    ['https://api.openai.com/v1/chat', 'https://api.openai.com', '/v1/chat', null],
    ['HTTPS://API.OpenAI.com:443/V1', 'https://api.openai.com', '/V1', null],
    ['https:/api.openai.com/v1', 'https://api.openai.com', '/v1', null],
    ['https%3A/s3.example%3A8443/b/k%3A1?u=%3A', 'https://s3.example:8443', '/b/k%3A1', 'u=%3A'],
    ['HTTP%3a//x%3A80', 'http://x', '/', null],
    ['http://x:80/', 'http://x', '/', null],
    ['http://x:443/', 'http://x:443', '/', null],
    ['https://x:8443', 'https://x:8443', '/', null],
    ['https://x?q=1', 'https://x', '/', 'q=1'],
    ['https://x/?', 'https://x', '/', ''],
    ['https://x./a', 'https://x', '/a', null],
    [
      'https://x/a%2Fb?u=http://y/../z&%2e%2e;\\%zz',
      'https://x',
      '/a%2Fb',
      'u=http://y/../z&%2e%2e;\\%zz',
    ],
    ['https://bücher.example/ü', 'https://xn--bcher-kva.example', latin1('/ü'), null],
    ['https://xn--bcher-kva.example/', 'https://xn--bcher-kva.example', '/', null],
    ['https://b%C3%BCcher.example/', 'https://xn--bcher-kva.example', '/', null],
    ['https://b%c3%bccher.example:8443/', 'https://xn--bcher-kva.example:8443', '/', null],
    ['https://a_b.example/', 'https://a_b.example', '/', null],
    ['https://127.0.0.1:9/', 'https://127.0.0.1:9', '/', null],
    ['https://[0:0:0::1]:9/', 'https://[::1]:9', '/', null],
    ['https://[2001:DB8::A]/', 'https://[2001:db8::a]', '/', null],
    ['https://1.example/', 'https://1.example', '/', null],
    ['https://0x7f.example/', 'https://0x7f.example', '/', null],
  ]
  for (const [url, origin, raw_path, raw_query] of rows) {
    const { origin: o, raw_path: p, raw_query: q } = target(url)
    assert.deepEqual([url, o, p, q], [url, origin, raw_path, raw_query])
  }
})

test('segments are decoded until stable, and an encoded slash does not separate them', () => {
  const rows: [path: string, segments: string[], empty: boolean, trailing: boolean][] = [
    ['', [], false, true],
    ['/', [], false, true],
    ['/a/b', ['a', 'b'], false, false],
    ['/a/b/', ['a', 'b'], false, true],
    ['/a//b', ['a', '', 'b'], true, false],
    ['//a', ['', 'a'], true, false],
    ['/a//', ['a', ''], true, true],
    ['/a/;v=1/b', ['a', ';v=1', 'b'], true, false],
    ['/a/%3Bv=1/b', ['a', ';v=1', 'b'], true, false],
    ['/a%2Fb/c', ['a/b', 'c'], false, false],
    ['/a%252Fb', ['a/b'], false, false],
    ['/%25252541', ['A'], false, false],
    ['/100%25', ['100%'], false, false],
    ['/%C3%BC%20x', ['ü x'], false, false],
    ['/ü', ['ü'], false, false],
    ['/...', ['...'], false, false],
    ['/.a/..b/c..', ['.a', '..b', 'c..'], false, false],
    ['/a;v=1', ['a;v=1'], false, false],
    ['/urls/https%3A%2F%2Fx.example%2Fy', ['urls', 'https://x.example/y'], false, false],
  ]
  for (const [path, segments, has_empty_segment, trailing_slash] of rows) {
    const t = target(`https://x${path}`)
    assert.deepEqual(
      [path, t.segments, t.has_empty_segment, t.trailing_slash],
      [path, segments, has_empty_segment, trailing_slash],
    )
  }
})

/** Each of these is a way past a decision that some upstream, proxy or resolver would complete. */
const REFUSED: readonly [url: string, reason: string][] = [
  ['', 'not_absolute'],
  ['v1/chat', 'not_absolute'],
  ['//x/a', 'not_absolute'],
  ['ftp://x/', 'not_absolute'],
  ['https', 'not_absolute'],
  ['https:', 'not_absolute'],
  ['https:x/', 'not_absolute'],
  ['httpss://x/', 'not_absolute'],
  ['https%3A%2F%2Fx/', 'percent_encoded'],
  ['https%3a%2f%2fapi.example.com%2Fv1%2Fchat', 'percent_encoded'],
  ['http%3A%2F%2Fx', 'percent_encoded'],
  ['HTTPS%3A%2F%2Fx/', 'percent_encoded'],
  ['https:%2F%2Fx/a', 'percent_encoded'],
  ['https:%2Fx/a', 'percent_encoded'],
  ['https%3A%2F/x', 'percent_encoded'],
  ['%68ttps://x/', 'percent_encoded'],
  ['https%253A%252F%252Fx%252Fa', 'percent_encoded'],
  ['https%25253A%25252F%25252Fx', 'percent_encoded'],
  ['https%2525253A%2525252F%2525252Fx', 'not_absolute'],
  ['ftp%3A%2F%2Fx', 'not_absolute'],
  ['x%3A%2F%2Fhttps%3A%2F%2Fx', 'not_absolute'],
  ['https%3A', 'not_absolute'],
  ['https%3A%2F%2F', 'not_absolute'],
  ['https%3', 'not_absolute'],
  ['%', 'not_absolute'],
  ['https%3Ax/', 'not_absolute'],
  ['https%253A//x/', 'percent_encoded'],
  ['https%3A//user%3Apass@x/', 'user_info'],
  ['https%3A//x%2Fy/', 'bad_host'],
  ['/https://x/', 'not_absolute'],
  ['javascript:https://x/', 'not_absolute'],
  ['https://', 'missing_host'],
  ['https:///x', 'missing_host'],
  ['https://?q', 'missing_host'],
  ['https://./', 'missing_host'],
  ['https://:443/', 'missing_host'],
  ['https://u@x/', 'user_info'],
  ['https://u:p@x/', 'user_info'],
  ['https://good.example@evil.example/', 'user_info'],
  ['https://x%40evil.example/', 'bad_host'],
  ['https://b%C3%BCcher%2eexample/', 'bad_host'],
  ['https://b%C3%BC%2Fx/', 'bad_host'],
  ['https://b%C3.example/', 'bad_host'],
  ['https://b%25C3%25BCcher.example/', 'bad_host'],
  ['.well-known/oauth-authorization-server', 'discovery'],
  ['.well-known/oauth-protected-resource/https://x/mcp?a=b', 'discovery'],
  ['.well-known', 'discovery'],
  ['register', 'discovery'],
  ['register?x=1', 'discovery'],
  ['registers', 'not_absolute'],
  ['.well-knowns/x', 'not_absolute'],
  ['https://x#/', 'fragment'],
  ['https://x/#a', 'fragment'],
  ['https://x/?q#a', 'fragment'],
  ['https:\\\\x/', 'backslash'],
  ['https:/\\x/', 'backslash'],
  ['https://x\\@evil.example/', 'backslash'],
  ['https://x/a\\b', 'backslash'],
  ['https://x/a%5Cb', 'backslash'],
  ['https://x/a%255cb', 'backslash'],
  ['https://x:/', 'bad_port'],
  ['https://x:0/', 'bad_port'],
  ['https://x:0443/', 'bad_port'],
  ['https://x:65536/', 'bad_port'],
  ['https://x:99999999999/', 'bad_port'],
  ['https://x:+443/', 'bad_port'],
  ['https://x:44a/', 'bad_port'],
  ['https://x:443:80/', 'bad_port'],
  ['https://[::1]80/', 'bad_host'],
  ['https://[::1/', 'bad_host'],
  ['https://[::1%25lo]/', 'bad_host'],
  ['https://[v1.a]/', 'bad_host'],
  ['https://[127.0.0.1]/', 'bad_host'],
  ['https://x../', 'bad_host'],
  ['https://.x/', 'bad_host'],
  ['https://a..b/', 'bad_host'],
  ['https://ex%61mple.com/', 'bad_host'],
  ['https://x,y/', 'bad_host'],
  ['https://x*/', 'bad_host'],
  ['https://xn--a/', 'bad_host'],
  ['https://XN--A/', 'bad_host'],
  ['https://xn--/', 'bad_host'],
  ['https://xn--abc-/', 'bad_host'],
  ['https://xn--zzzzzz99/', 'bad_host'],
  ['https://xn--a-ecp.example/', 'bad_host'],
  ['https://xn--xn---epa/', 'bad_host'],
  ['https://xn--4ca.xn--a/', 'bad_host'],
  ['https://api.xn--a.example/v1', 'bad_host'],
  ['https://ä.xn--a/', 'bad_host'],
  [`https://${'a'.repeat(64)}.example/`, 'bad_host'],
  [`https://${'a.'.repeat(128)}/`, 'bad_host'],
  ['https://127.1/', 'ip_spelling'],
  ['https://127.0.1/', 'ip_spelling'],
  ['https://2130706433/', 'ip_spelling'],
  ['https://0x7f000001/', 'ip_spelling'],
  ['https://0x7F.0.0.1/', 'ip_spelling'],
  ['https://0177.0.0.1/', 'ip_spelling'],
  ['https://017700000001/', 'ip_spelling'],
  ['https://127.0.0.01/', 'ip_spelling'],
  ['https://127.0.0.256/', 'ip_spelling'],
  ['https://1.2.3.4.5/', 'ip_spelling'],
  ['https://x.0x/', 'ip_spelling'],
  ['https://[::ffff:127.0.0.1]/', 'ip_spelling'],
  ['https://[::ffff:7f00:1]/', 'ip_spelling'],
  ['https://[0:0:0:0:0:FFFF:7f00:0001]/', 'ip_spelling'],
  ['https://[64:ff9b::127.0.0.1]/', 'ip_spelling'],
  ['https://x/a b', 'whitespace'],
  ['https://x/?a b', 'whitespace'],
  ['https://x/a\r\nX: y', 'whitespace'],
  ['https://x /', 'whitespace'],
  ['https://x/\u0000', 'control_character'],
  ['https://x/?\u007f', 'control_character'],
  ['https://x/%00', 'control_character'],
  ['https://x/%2500', 'control_character'],
  ['https://x/a%0d%0ab', 'control_character'],
  ['https://x/%7F', 'control_character'],
  ['https://x/%C2%85', 'control_character'],
  ['https://x/%ff', 'invalid_utf8'],
  ['https://x/%C0%AE%C0%AE', 'invalid_utf8'],
  ['https://x/%E0%80%AF', 'invalid_utf8'],
  ['https://x/%25C0%25AE', 'invalid_utf8'],
  ['https://x/%ED%A0%80', 'invalid_utf8'],
  ['https://x/%', 'bad_percent_encoding'],
  ['https://x/%4', 'bad_percent_encoding'],
  ['https://x/%zz', 'bad_percent_encoding'],
  ['https://x/%u002e%u002e/a', 'bad_percent_encoding'],
  ['https://x/%%32e', 'bad_percent_encoding'],
  ['https://x/.', 'dot_segment'],
  ['https://x/..', 'dot_segment'],
  ['https://x/a/../b', 'dot_segment'],
  ['https://x/a/./b', 'dot_segment'],
  ['https://x/a/..;/b', 'dot_segment'],
  ['https://x/a/..;v=1/b', 'dot_segment'],
  ['https://x/a;../b', 'dot_segment'],
  ['https://x/%2e%2e/b', 'dot_segment'],
  ['https://x/.%2E/b', 'dot_segment'],
  ['https://x/%252e%252e/b', 'dot_segment'],
  ['https://x/%25252e%25252e/b', 'dot_segment'],
  ['https://x/a%2f..%2fb', 'dot_segment'],
  ['https://x/models/..%2f..%2fkeys', 'dot_segment'],
  ['https://x/models/..%252f..%252fkeys', 'dot_segment'],
  ['https://x/a%2f%2e', 'dot_segment'],
  // An upstream that decodes first may end the path there.
  ['https://x/a/..%3Fx', 'dot_segment'],
  ['https://x/a/..%23/z', 'dot_segment'],
  ['https://x/a/..%2523', 'dot_segment'],
  ['https://x/a/..&a', 'dot_segment'],
  ['https://x/a/..%26a', 'dot_segment'],
  ['https://x/a/.%EF%BC%8E%EF%BC%9Fx', 'dot_segment'],
  ['https://x/a%3F../b', 'dot_segment'],
  ['https://x/%2e%2e%3bv/b', 'dot_segment'],
  ['https://x/%25%32%65%25%32%65/b', 'dot_segment'],
  ['https://x/%2525252525', 'encoded_too_deep'],
  ['https://x/%2525252525', 'encoded_too_deep'],
  [`https://x/e${'%CC%81'.repeat(31)}`, 'too_many_marks'],
  [`https://x/e${'%25CC%2581'.repeat(31)}`, 'too_many_marks'],
  [`https://${'ü'.repeat(64)}.example/`, 'bad_host'],
  [`https://${'ü.'.repeat(128)}example/`, 'bad_host'],
  ['https://x/%252525252e%252525252e', 'encoded_too_deep'],
  [`https://x/${'a'.repeat(17_000)}`, 'too_long'],
  [`https://x/?${'a'.repeat(70_000)}`, 'too_long'],
  [`https://x/${'a/'.repeat(600)}`, 'too_many_segments'],
]

test('a name in any language has as many combining marks as it needs', () => {
  const parsed = parseTarget(`/https://x/e${'%CC%81'.repeat(30)}`)
  assert.ok(parsed.ok)
})

test('threat 8: a target that can be read in two ways is refused with the error named', () => {
  for (const [url, reason] of REFUSED) {
    const parsed = parseTarget(`/${latin1(url)}`)
    assert.deepEqual([url, parsed.ok ? 'accepted' : parsed.reason], [url, reason])
  }
})

test('raw bytes that are no UTF-8 are refused in the path and pass in the query', () => {
  assert.deepEqual(parseTarget('/https://x/\xff'), { ok: false, reason: 'invalid_utf8' })
  assert.deepEqual(parseTarget('/https://x/\xc3%A9'), { ok: false, reason: 'invalid_utf8' })
  assert.deepEqual(parseTarget('/https://\xff/'), { ok: false, reason: 'bad_host' })
  assert.deepEqual(parseTarget('/https://x/Ā'), { ok: false, reason: 'invalid_utf8' })
  assert.equal(target('https://x/?a=1').raw_query, 'a=1')
  assert.ok(parseTarget('/https://x/?\xff').ok)
})

const byteText = fc
  .array(fc.constantFrom(...'/.%;\\ae2f5cE0-:@?#[]'.split(''), '\xc3', '\xbc', '\x00', ' '), {
    maxLength: 40,
  })
  .map((parts) => parts.join(''))

test('whatever is accepted has no segment that climbs, however often an upstream decodes it', () => {
  fc.assert(
    fc.property(byteText, (text) => {
      const parsed = parseTarget(`/https://x/${text}`)
      if (!parsed.ok) return
      let path = parsed.target.raw_path
      for (let round = 0; round < 6; round++) {
        for (const piece of path.split(/[/;\\]/)) assert.ok(piece !== '.' && piece !== '..', path)
        assert.ok(!path.includes('\\') && !/\p{Cc}/u.test(path), path)
        path = path.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(parseInt(hex, 16)))
      }
    }),
    { numRuns: repetitions(2_000) },
  )
})

test('an accepted host is one that the WHATWG parser leaves as it is', () => {
  const hostText = fc
    .array(fc.constantFrom(...'aZ09.x-_%:[]ü。１@'.split(''), 'xn--'), {
      minLength: 1,
      maxLength: 12,
    })
    .map((parts) => parts.join(''))
  fc.assert(
    fc.property(hostText, (host) => {
      const parsed = parseTarget(`/${latin1(`http://${host}/`)}`)
      if (parsed.ok) assert.equal(new URL(`${parsed.target.origin}/`).origin, parsed.target.origin)
    }),
    { numRuns: repetitions(2_000) },
  )
})

test('a segment survives its canonical spelling', () => {
  // Not with a dot segment behind an encoded character that may end a segment or a path (`/.`, `#.`), which is refused.
  const plain = /^(?![^]*[/?&#] *\.{1,2} *(?:[?&#]|$))[^.;\\%\p{Cc}][^;\\%\p{Cc}/]*$/u
  const segment = fc
    .string({ unit: 'grapheme', minLength: 1 })
    .filter((text) => plain.test(text) && plain.test(foldCompatible(text).trim()))
  fc.assert(
    fc.property(segment, (text) => {
      assert.deepEqual(target(`https://x/${encodeSegment(text)}`).segments, [text])
    }),
    { numRuns: repetitions(1_000) },
  )
})

test('a base URL has one canonical text however it was written', () => {
  const rows: [text: string, canonical: string][] = [
    ['https://api.openai.com/v1', 'https://api.openai.com/v1'],
    ['HTTPS://API.openai.com:443/v1/', 'https://api.openai.com/v1'],
    ['https://x', 'https://x'],
    ['https://x/', 'https://x'],
    ['http://x:8080/a', 'http://x:8080/a'],
    ['https://x/%61%2fb', 'https://x/a%2Fb'],
    ['https://x/a:b@c$&+,=', 'https://x/a:b@c$&+,='],
    ['https://x/ü', 'https://x/%C3%BC'],
    ['https://x/%C3%BC', 'https://x/%C3%BC'],
    ['https://x/100%25', 'https://x/100%25'],
    ['https://bücher.example./', 'https://xn--bcher-kva.example'],
  ]
  for (const [text, canonical] of rows) {
    const parsed = parseBaseUrl(text)
    assert.deepEqual([text, parsed.ok && parsed.base.base_url], [text, canonical])
    const again = parseBaseUrl(canonical)
    assert.deepEqual(again, parsed)
  }
})

test('a base URL with anything but scheme, host, port and path is refused', () => {
  const rows: [text: string, reason: string][] = [
    ['https://x/?', 'query'],
    ['https://x/v1?a=1', 'query'],
    ['https://x/v1#a', 'fragment'],
    ['https://u:p@x/v1', 'user_info'],
    ['https://x//v1', 'empty_segment'],
    ['https://x/v1//', 'empty_segment'],
    ['https:/x/v1', 'not_absolute'],
    ['x.example/v1', 'not_absolute'],
    [' https://x', 'whitespace'],
    ['https://x/../v1', 'dot_segment'],
    ['https://127.1/v1', 'ip_spelling'],
    ['', 'not_absolute'],
  ]
  for (const [text, reason] of rows)
    assert.deepEqual([text, parseBaseUrl(text)], [text, { ok: false, reason }])
})

test('the base URL that a 404 names ends with the first version segment, else it is the origin', () => {
  const rows: [url: string, base_url: string][] = [
    ['https://x/v1/chat/v2', 'https://x/v1'],
    ['https://x/api/v2.1/y', 'https://x/api/v2.1'],
    ['https://x/v1beta1/y', 'https://x/v1beta1'],
    ['https://x/V1Alpha/y', 'https://x/V1Alpha'],
    ['https://x:8443/a%20b/v3', 'https://x:8443/a%20b/v3'],
    ['https://x/v/1', 'https://x'],
    ['https://x/v1.', 'https://x'],
    ['https://x/v1beta1.2', 'https://x'],
    ['https://x/xv1/vv1', 'https://x'],
    ['https://x', 'https://x'],
  ]
  for (const [url, base_url] of rows)
    assert.deepEqual([url, baseUrlOfTarget(target(url))], [url, base_url])
})
