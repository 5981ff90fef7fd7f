import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { showsMessage, WITHOUT_FORMAT } from '../../cli/reference/clients-page.ts'
import { referencePages } from '../../cli/reference/pages.ts'
import { REFUSAL_CASES, refusalRecordings } from '../../cli/reference/refusal-recordings.ts'
import { fromRoot } from '../../core/system/root.ts'

const pages = referencePages()

for (const [name, text] of Object.entries(pages))
  test(`docs/reference/${name} is as its catalogue says; run npm run docs if it is stale`, () => {
    assert.equal(readFileSync(fromRoot('docs', 'reference', name), 'utf8'), text)
  })

test('docs/reference holds generated pages only', () => {
  assert.deepEqual(readdirSync(fromRoot('docs', 'reference')).sort(), Object.keys(pages).sort())
})

const recordings = Object.entries(refusalRecordings())

test('at least twenty clients were recorded, each with the refusals that it can meet', () => {
  assert.ok(recordings.length >= 20)
  for (const [client, { refusals }] of recordings)
    for (const [one, { refusals: got }] of Object.entries(refusals))
      assert.ok(got[0]?.endsWith(` ${one.replace('_in_flight', '')}`), `${client}, ${one}`)
})

/** They repeat by the status alone, or try another handshake; the page says so. */
const REPEAT: readonly string[] = [
  'octokit',
  'Slack, Node.js',
  'mcp-remote',
  'fastmcp',
  'Codex CLI',
  'Claude Code',
]

test('no client repeats a final refusal, except those that the page names', () => {
  const isFinal = (got: string): boolean =>
    got.startsWith('4') && !got.startsWith('408') && !got.startsWith('429')
  for (const [client, { refusals }] of recordings) {
    const repeated = Object.values(refusals).filter(
      ({ refusals: got }) => got.filter(isFinal).length > 1,
    )
    assert.equal(repeated.length > 0, REPEAT.includes(client), client)
  }
})

/** They write a sentence of their own for a status; the page says so. */
const OWN_WORDS: readonly string[] = ['Slack, Node.js, no retries', 'Claude Code request_too_large']

test('the message of a refusal that a processor decided reaches the user', () => {
  const decided = REFUSAL_CASES.filter((one) => !WITHOUT_FORMAT.has(one))
  for (const [client, { refusals }] of recordings)
    for (const one of decided) {
      const shown = refusals[one]?.shown ?? null
      if (shown === null || shown.startsWith('no error')) continue
      if (OWN_WORDS.some((own) => `${client} ${one}`.startsWith(own))) continue
      assert.ok(showsMessage(one, shown), `${client}, ${one}: ${shown}`)
    }
})
