import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { skipSpace, skipStart } from '../../core/request/json-lexis.ts'
import { skipValue, walkJson } from '../../core/request/walk-json.ts'
import { isToolAllowed } from '../../core/mcp/check-mcp-tool.ts'
import { readJsonRpc } from '../../core/mcp/read-json-rpc.ts'
import { compileToolGlob } from '../../core/mcp/tool-glob.ts'
import { findBodyOverrides } from '../../core/request/find-body-overrides.ts'
import { fromRoot } from '../../core/system/root.ts'
import { defaultSettings } from '../../core/scanner/default-settings.ts'
import { scanRequest } from '../../core/scanner/scan-request.ts'
import { JSON_TEXTS } from '../kit/json-texts.ts'

/** By text: what real readers saw of it (method, tool, whether the note is the attack), and which of them. */
const RECORD = JSON.parse(
  readFileSync(fromRoot('test', 'witness', 'json', 'readers.json'), 'utf8'),
) as Record<string, Record<string, string>>

const TOOLS = { allow: [[compileToolGlob('*')]], deny: [compileToolGlob('delete_*')] }

/** As `check-tools` decides: only a body that is read and names no denied tool passes. */
function passes(body: Buffer): boolean {
  const read = readJsonRpc(body)
  if (read.kind === 'other') return true
  if (read.kind !== 'single' && read.kind !== 'batch') return false
  return read.messages.every(
    ({ is_tool_call, tool }) =>
      !is_tool_call || isToolAllowed({ ...TOOLS, is_unrestricted: false }, tool),
  )
}

/** At the default sensitivity, as the body of a request that says it is JSON. */
function isBlocked(body: Buffer): boolean {
  const rest = {
    content_encoding: null,
    method: 'POST',
    base_path: '',
    path: '/',
    query: '',
    headers: [],
  }
  const result = scanRequest(
    { ...rest, body, content_type: 'application/json' },
    defaultSettings('medium'),
  )
  return result.kind !== 'scanned' || result.decision.outcome === 'blocked'
}

const seenOf = (name: string) =>
  Object.entries(RECORD[name] ?? {}).map(([seen, readers]) => {
    const [method, tool, note] = JSON.parse(seen) as [string | null, string | null, boolean]
    return { method, tool, note, readers }
  })

test('the record has every text, and many readers', () => {
  assert.deepEqual(Object.keys(RECORD), Object.keys(JSON_TEXTS))
  assert.ok(seenOf('plain').flatMap(({ readers }) => readers.split('; ')).length >= 40)
})

test('no text passes the check of tools in which a real reader sees a call of a denied tool', () => {
  let refused = 0
  for (const [name, text] of Object.entries(JSON_TEXTS)) {
    const calls = seenOf(name).filter(
      ({ method, tool }) => method === 'tools/call' && tool?.startsWith('delete_') === true,
    )
    if (calls.length === 0) continue
    assert.equal(passes(Buffer.from(text)), false, `${name}: seen by ${calls[0]?.readers}`)
    refused++
  }
  assert.ok(refused > 100)
})

test('no text passes the scanner in which a real reader sees the attack', () => {
  let blocked = 0
  for (const [name, text] of Object.entries(JSON_TEXTS)) {
    const victims = seenOf(name).filter(({ note }) => note)
    if (victims.length === 0) continue
    assert.ok(isBlocked(Buffer.from(text)), `${name}: seen by ${victims[0]?.readers}`)
    blocked++
  }
  assert.ok(blocked > 110)
})

const strictly = (body: Buffer): boolean => {
  const end = skipValue(body, skipStart(body))
  return end >= 0 && skipSpace(body, end) === body.length
}
const leniently = (body: Buffer): boolean => walkJson(body, 0, body.length, 'lenient') >= 0

test('the lenient grammar accepts everything that the strict one accepts, and its documented additions', () => {
  const lenientOnly = Object.entries(JSON_TEXTS)
    .map(([name, text]) => ({ name, body: Buffer.from(text) }))
    .filter(({ body, name }) => {
      if (strictly(body)) assert.ok(leniently(body), name)
      return leniently(body) && !strictly(body)
    })
  assert.deepEqual(
    lenientOnly.map(({ name }) => name),
    [
      'two lines',
      'one behind the other',
      'number in front',
      'string in front',
      'empty object in front',
      'empty array in front',
      'NaN',
      'Infinity',
      '-Infinity',
      'leading zero',
      'dot behind',
      'exponent without digits',
      'escape in hexadecimal',
      'escape in octal',
      'escape with braces',
      'escaped apostrophe',
      'needless escape',
      'escape of a line break',
      'half an escape',
      'line break in a string',
      'tab in a string',
      'control character in a string',
      'NUL in a string',
      'raw NUL in the tool name',
    ],
  )
})

test('what the strict grammar takes is what JSON.parse takes', () => {
  for (const [name, text] of Object.entries(JSON_TEXTS)) {
    const body = Buffer.from(text)
    let isJson = true
    try {
      JSON.parse(body.toString().replace(/^\ufeff/, ''))
    } catch {
      isJson = false
    }
    assert.equal(strictly(body), isJson, name)
  }
})

/** The texts with an override in place of the call, in the same encoding. */
const asOverride = (text: string): string =>
  text
    .replaceAll(/method|\uff4dethod|m\\u0065thod/gi, '_$&')
    .replaceAll('tools/call', 'DELETE')
    .replaceAll('tools\\/c\\u0061ll', 'DEL\\u0045TE')

function overrideIn(name: string): Buffer {
  const text = JSON_TEXTS[name] ?? ''
  if (typeof text === 'string') return Buffer.from(asOverride(text))
  if (name.startsWith('UTF-16LE'))
    return Buffer.from(asOverride(text.toString('utf16le')), 'utf16le')
  if (name.startsWith('UTF-16BE'))
    return Buffer.from(
      asOverride(Buffer.from(text).swap16().toString('utf16le')),
      'utf16le',
    ).swap16()
  if (!name.startsWith('UTF-32')) return Buffer.from(asOverride(text.toString('latin1')), 'latin1')
  const narrow = Buffer.from(asOverride(text.toString('latin1').replaceAll('\0', '')))
  return Buffer.from([...narrow].flatMap((byte) => [0, 0, 0, byte]))
}

test('an override is found in every text in which a real reader sees the member, lists apart', () => {
  let found = 0
  for (const name of Object.keys(JSON_TEXTS)) {
    const sees = seenOf(name).find(({ method }) => method === 'tools/call')
    if (sees === undefined || name.endsWith('batch')) continue
    const { methods } = findBodyOverrides(overrideIn(name), 'application/json')
    assert.ok(methods.length > 0, `${name}: seen by ${sees.readers}`)
    found++
  }
  assert.ok(found > 115)
})
