import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodePercent } from '../../core/scanner/format/pairs.ts'

const TABLE: Readonly<Record<string, string>> = {
  'no escapes: 100 %': 'no escapes: 100 %',
  'a%20b%2': 'a b%2',
  '%41%49%ff': 'AI\ufffd',
  '%ffa%41%ffb': '\ufffdaA\ufffdb',
  '%c3%a9 \u00e9 %C3': '\u00e9 \u00e9 \ufffd',
  '%2541': '%41',
}

for (const [text, decoded] of Object.entries(TABLE)) {
  test(`${text} is decoded as far as it can be`, () => {
    assert.equal(decodePercent(text), decoded)
  })
}
