import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { referencePages } from '../../cli/reference/pages.ts'
import { fromRoot } from '../../core/root.ts'

const pages = referencePages()

for (const [name, text] of Object.entries(pages))
  test(`docs/reference/${name} is as its catalogue says; run npm run docs if it is stale`, () => {
    assert.equal(readFileSync(fromRoot('docs', 'reference', name), 'utf8'), text)
  })

test('docs/reference holds generated pages only', () => {
  assert.deepEqual(readdirSync(fromRoot('docs', 'reference')).sort(), Object.keys(pages).sort())
})
