import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import RE2 from 're2'
import { SCOPE_DEFAULTS } from '../../core/catalogue/model.ts'
import { compileInjectionSettings } from '../../core/scanner/compile-settings.ts'
import { buildLiteralFilter, mayMatch } from '../../core/scanner/custom/literal-filter.ts'
import { requiredLiterals } from '../../core/scanner/custom/required-literals.ts'
import { scanRequest } from '../../core/scanner/scan-request.ts'
import { repetitions } from '../kit/repetitions.ts'

const literals = (expression: string): string[] | null => {
  const found = requiredLiterals(expression)
  return found === null ? null : [...found].sort()
}

test('the literals of an expression are what every match contains', () => {
  const rows: [expression: string, expected: string[] | null][] = [
    ['Falcon-\\d+', ['falcon-']],
    [
      '(?:project|codename)[ -]?falcon',
      [
        'codename falcon',
        'codename-falcon',
        'codenamefalcon',
        'project falcon',
        'project-falcon',
        'projectfalcon',
      ],
    ],
    ['\\bsecret(?:ly)?\\b', ['secret', 'secretly']],
    ['(?i)alpha.*betagamma', ['betagamma']],
    ['(?P<name>alpha){2,}', ['alpha']],
    ['alpha{0}betas\\s+x', ['betas']],
    ['\\d{3}-\\d{2}', ['-']],
    ['[a-z]+', null],
    ['alpha|[0-9]+', null],
    ['alpha\\x41', null],
    ['(?=alpha)beta', null],
    ['alp[^h]a', ['alp']],
    ['alpha[[:digit:]x]+beta', ['alpha']],
  ]
  for (const [expression, expected] of rows)
    assert.deepEqual(literals(expression), expected === null ? null : expected.sort(), expression)
})

const atom = fc.oneof(
  fc.constantFrom(
    'alpha',
    'Beta',
    'x-1',
    'k',
    's',
    ' ',
    '\\.',
    '\\d',
    '.',
    '[ab]',
    '[^a]',
    '\\b',
    '^',
    'é',
    '[k-]',
    '[]a]',
    '"',
    '\\n',
  ),
  fc.stringMatching(/^[a-c]{1,9}$/),
)
const expression = fc.letrec<{ part: string; whole: string }>((tie) => ({
  part: fc.oneof(
    { depthSize: 'small' },
    atom,
    fc
      .tuple(fc.constantFrom('(', '(?:', '(?i:', '(?P<n>', '(?i)('), tie('whole'))
      .map(([open, inner]) => `${open}${inner})`),
    fc
      .tuple(atom, fc.constantFrom('?', '*', '+', '{2}', '{0,2}', '{1,}?', '??'))
      .map(([one, sign]) => `(?:${one})${sign}`),
  ),
  whole: fc.oneof(
    { depthSize: 'small' },
    fc.array(tie('part'), { minLength: 1, maxLength: 5 }).map((parts) => parts.join('')),
    fc.tuple(tie('whole'), tie('whole')).map(([a, b]) => `${a}|${b}`),
  ),
})).whole
const text = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        'alpha',
        'BETA',
        'x-1',
        '\u212a',
        '\u017f',
        ' ',
        '.',
        '"',
        '\n',
        '7',
        'é',
        '[',
        ']',
      ),
      fc.stringMatching(/^[a-cA-C]{1,9}$/),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''))

const compiled = (source: string): RE2 | null => {
  try {
    return new RE2(source, 'iu')
  } catch {
    return null
  }
}

test('a text that an expression matches always passes the filter', () => {
  fc.assert(
    fc.property(expression, text, (source, sample) => {
      const filter = buildLiteralFilter([source])
      const matcher = compiled(source)
      fc.pre(filter !== null && matcher !== null)
      const bytes = Buffer.from(sample)
      assert.ok(!matcher.test(bytes) || mayMatch(filter, bytes), `${source} in ${sample}`)
    }),
    { numRuns: repetitions(600) },
  )
})

test('a custom pattern is found wherever it stands and however JSON writes it', () => {
  const made = compileInjectionSettings({
    ...SCOPE_DEFAULTS.injection_detection,
    custom_patterns: ['falcon-\\d{2}', 'project "raven"', 'line one\\nline two'],
  })
  assert.ok(made.ok)
  assert.notEqual(made.compiled.custom?.filter, null)
  const find = (body: string): number => {
    const result = scanRequest(
      {
        body: Buffer.from(body),
        content_type: 'application/json',
        content_encoding: null,
        method: 'POST',
        base_path: '',
        path: '/',
        query: '',
        headers: [],
      },
      made.compiled,
    )
    return result.kind === 'scanned' ? result.findings.length : -1
  }
  for (const padding of ['', 'a', 'ab', 'abc', 'abcd', 'x'.repeat(70_000)]) {
    assert.equal(find(JSON.stringify({ q: `${padding}FALCON-42${padding}` })), 1)
    assert.equal(find(JSON.stringify({ q: `${padding}project "Raven"` })), 1)
    assert.equal(find(JSON.stringify({ q: `${padding}line one\nline two` })), 1)
    assert.equal(find(`{"q":"${padding}\\u0066alco\\u006e-42"}`), 1)
    assert.equal(find(`{"q":"${padding}\\falcon-4"}`), 0)
    assert.equal(find(`{"q":"${padding}\\\\u0066alcon-42"}`), 1)
    assert.equal(find(`{"q":"${padding}falcon-42`), 1, 'JSON that breaks off')
    assert.equal(find(JSON.stringify({ q: `${padding}falcon 42` })), 0)
  }
})

const ENCODED: Readonly<Record<string, string>> = {
  'a blank': 'forbidden%20fruit',
  'a plus sign for a blank': 'forbidden+fruit',
  'a letter': '%66orbidden fruit',
  'the last letter': 'forbidden frui%74',
  'all letters': Array.from(Buffer.from('forbidden fruit'), (byte) => `%${byte.toString(16)}`).join(
    '',
  ),
  'upper-case digits': 'forbidden%20%66%72%75%69%74'.toUpperCase(),
  'nothing, behind other escapes': '100%25%20of%20forbidden fruit',
  'a blank, before a percent sign alone': 'forbidden%20fruit 100%',
  'a blank, behind a broken escape': '%zz%2%20forbidden%20fruit',
  'a blank, behind bytes that are not UTF-8': '%ff%fe forbidden%20fruit',
}
const PLACES: Readonly<Record<string, (text: string) => object>> = {
  query: (text) => ({ query: `a=1&q=${text}&b=2` }),
  'name of a parameter': (text) => ({ query: `${text}=1` }),
  form: (text) => ({
    body: Buffer.from(`a=1&q=${text}`),
    content_type: 'application/x-www-form-urlencoded',
  }),
  cookie: (text) => ({ headers: [['cookie', `a=1; q=${text}`]] }),
  path: (text) => ({ path: `/search/${text}` }),
  referer: (text) => ({ headers: [['referer', `https://a.example/?q=${text}`]] }),
  text: (text) => ({ body: Buffer.from(`Look: ${text}`), content_type: 'text/plain' }),
}

for (const [place, put] of Object.entries(PLACES))
  test(`a custom pattern is found however percent-encoding writes it: ${place}`, () => {
    for (const filtered of [true, false]) {
      const made = compileInjectionSettings({
        ...SCOPE_DEFAULTS.injection_detection,
        custom_patterns: ['forbidden fruit', ...(filtered ? [] : ['[0-9]{99}'])],
      })
      assert.ok(made.ok)
      assert.equal(made.compiled.custom?.filter !== null, filtered)
      const find = (text: string) => {
        const empty = { body: null, content_type: null, content_encoding: null }
        const call = {
          ...empty,
          method: 'POST',
          base_path: '',
          path: '/',
          query: '',
          headers: [],
          ...put(text),
        }
        const result = scanRequest(call, made.compiled)
        assert.ok(result.kind === 'scanned')
        return result.findings.filter(({ category }) => category === 'custom')
      }
      for (const [what, text] of Object.entries(ENCODED)) {
        // Only forms write blanks so.
        if (text.includes('+') && !['query', 'name of a parameter', 'form'].includes(place))
          continue
        assert.ok(find(text).length > 0, `${what} in ${place}`)
      }
      assert.deepEqual(find('forbidden%2520fruit'), [], 'encoded twice')
      assert.deepEqual(find('forbidden%2_fruit'), [])
    }
  })

test('a custom pattern may be written as it is sent', () => {
  const made = compileInjectionSettings({
    ...SCOPE_DEFAULTS.injection_detection,
    custom_patterns: ['forbidden%20fruit'],
  })
  assert.ok(made.ok)
  const empty = { body: null, content_type: null, content_encoding: null }
  const call = {
    ...empty,
    method: 'POST',
    base_path: '',
    path: '/',
    query: 'q=forbidden%20fruit',
    headers: [],
  }
  const result = scanRequest(call, made.compiled)
  assert.ok(result.kind === 'scanned')
  assert.deepEqual(
    result.findings.map(({ location, matched_text }) => [location, matched_text]),
    [['query.q', 'forbidden fruit']],
  )
})
