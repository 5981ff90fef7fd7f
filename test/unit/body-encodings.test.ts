import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { type BodyQuestions, readBody } from '../../core/inspection/read-body.ts'
import { inflateBody } from '../../core/scanner/format/inflate-body.ts'
import { SearchBudget } from '../../core/scanner/text/search-budget.ts'

const LIMIT = 1 << 20
const TEXT = 'a text that is long enough to be worth it, long enough to be worth it'

test('encodings that are what they say are undone', () => {
  const forms = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync }
  for (const [name, compress] of Object.entries(forms))
    for (const text of [
      TEXT,
      JSON.stringify({ text: TEXT }),
      '[{"a":1}]',
      `{"a":"${'é'.repeat(90_000)}"}`,
    ]) {
      const read = inflateBody(compress(text), name, LIMIT, 'request')
      assert.equal(read.kind === 'inflated' && read.bytes.toString() === text, true, name)
    }
})

test('threat 13: DEFLATE without a frame is read in a response and refused in a request', () => {
  const raw = deflateRawSync(TEXT)
  assert.equal(inflateBody(raw, 'deflate', LIMIT, 'response').kind, 'inflated')
  assert.equal(inflateBody(raw, 'deflate', LIMIT, 'request').kind, 'unsupported')
})

test('threat 13: what begins like JSON was never compressed, whatever its header says', () => {
  for (const text of ['{"a":1}', ' \n{}', '\ufeff{"a":1}', '[{"a":1}]', '[ ["a"]]'])
    for (const encoding of ['gzip', 'deflate', 'br', 'zstd', 'gzip, br'])
      for (const body of [Buffer.from(text), Buffer.from(text, 'utf16le')])
        assert.equal(inflateBody(body, encoding, LIMIT, 'response').kind, 'unsupported', text)
})

test('threat 10: a method is found in the charset that a body claims', () => {
  const questions: BodyQuestions = {
    content_type: 'application/json; charset=utf-7',
    content_encoding: null,
    limit_bytes: LIMIT,
    identity: null,
    asks_overrides: true,
    keeps_body: true,
    json_rpc: null,
    scan: null,
  }
  const body = Buffer.from('{"+AF8-method":"DELETE"}')
  const { facts } = readBody(body, questions, null, new SearchBudget(1e9))
  assert.deepEqual(facts.overrides.methods, ['DELETE'])
})
