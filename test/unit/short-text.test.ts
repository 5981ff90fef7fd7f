import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shortText } from '../../core/system/short-text.ts'
import { deny } from '../../ext-proc/verdict/step.ts'

test('a text is cut to its beginning, and no character is divided', () => {
  assert.equal(shortText('abc', 3), 'abc')
  assert.equal(shortText('abcd', 3), 'ab…')
  assert.equal(shortText('a\u{1f600}bc', 3), 'a…')
})

test('no text of a refusal is longer than a method and a path', () => {
  const long = 'gzip, '.repeat(10_000)
  const { denial } = deny(
    'scan',
    'unsupported_content_encoding',
    { content_encoding: long, limit_bytes: 9 },
    { data: { content_encoding: long } },
  )
  assert.equal(denial.details['limit_bytes'], 9)
  for (const { content_encoding } of [denial.details, denial.data ?? {}])
    assert.equal(String(content_encoding).length, 2_304)
  assert.equal('data' in deny('agent', 'agent_killed').denial, false)
})
