import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { parse } from 'yaml'
import { messageOf } from '../../cli/deployment/call-admin.ts'
import { configAsYaml } from '../../cli/config/dump-config.ts'
import { changeLines } from '../../cli/config/describe-change.ts'
import { terminalJson, terminalLines, terminalText } from '../../cli/terminal/terminal-text.ts'
import { fromRoot } from '../../core/system/root.ts'

/** What a terminal obeys, or an eye is led astray by. */
const HOSTILE: readonly (readonly [what: string, text: string])[] = [
  ['an escape sequence', '\u001b[2J'],
  ['a title', '\u001b]0;owned\u0007'],
  ['a bell', '\u0007'],
  ['a backspace', 'safe\b\b\b\bevil'],
  ['a carriage return', 'safe\revil'],
  ['the sequence introducer of C1', '\u009b2J'],
  ['the string terminator of C1', '\u009c'],
  ['the device control string of C1', '\u0090q'],
  ['the next line of C1', '\u0085'],
  ['a delete', '\u007f'],
  ['a turn to the left', '\u202egnp.exe'],
  ['an isolate', '\u2066a\u2069'],
  ['a mark of direction', '\u200f'],
  ['a zero width', 'a\u200bb\ufeff'],
  ['a soft hyphen', 'a\u00adb'],
  ['a line separator', '\u2028'],
  ['a paragraph separator', '\u2029'],
  ['a tag', '\u{e0041}\u{e007f}'],
  ['half a surrogate pair', '\ud800'],
  ['a NUL', '\0'],
]
const STEERS = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u

test('threat 25: what -o json prints has no raw control character, and is the same value', () => {
  for (const [what, hostile] of HOSTILE)
    for (const value of [hostile, { [hostile]: [hostile, `ü ${hostile} 😀`] }])
      for (const indent of [undefined, 2]) {
        const printed = terminalJson(value, indent)
        assert.doesNotMatch(printed, STEERS, what)
        assert.deepEqual(JSON.parse(printed), value, what)
      }
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const printed = terminalJson(value)
      assert.doesNotMatch(printed, /[\p{Cc}\p{Cf}]/u)
      assert.equal(JSON.stringify(JSON.parse(printed)), JSON.stringify(value))
    }),
  )
  assert.equal(terminalJson({ a: 'ü 😀 →' }), '{"a":"ü 😀 →"}')
})

test('threat 25: tables, plans and messages print none either', () => {
  for (const [what, hostile] of HOSTILE) {
    const refused = { message: hostile, details: { issues: [{ path: hostile, message: hostile }] } }
    for (const printed of [
      terminalText(`a ${hostile} b`),
      terminalLines(`a\n${hostile}\nb`),
      messageOf({ status: 400, body: refused }),
      changeLines({
        action: 'delete',
        kind: 'agents',
        title: hostile,
        shown: {},
      } as unknown as Parameters<typeof changeLines>[0]),
    ])
      assert.doesNotMatch(printed, STEERS, what)
  }
})

test('threat 25: a dump prints none either, and is read as what was there', () => {
  for (const [what, hostile] of HOSTILE) {
    const config = {
      integrations: [],
      agents: [{ agent_name: `a ${hostile} b`, metadata: { [`k${hostile}`]: hostile, l: 'x\ny' } }],
      connections: [],
      scopes: [],
      webhooks: [],
    }
    const printed = configAsYaml(config)
    assert.doesNotMatch(printed, STEERS, what)
    assert.deepEqual(parse(printed), config, what)
  }
})

test('no command prints JSON in another way', () => {
  const folder = fromRoot('cli')
  const printing = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.startsWith('launcher'))
    .filter((name) => /write\([^)]*JSON\.stringify/.test(readFileSync(join(folder, name), 'utf8')))
  assert.deepEqual(printing, [])
})
