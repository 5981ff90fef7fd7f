import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fromRoot } from '../../core/system/root.ts'
import { SCRIPTS } from '../../core/redis/scripts.ts'

const files = readdirSync(fromRoot('core', 'lua'))
  .filter((file) => file.endsWith('.lua'))
  .map((file) => file.slice(0, -'.lua'.length))

const read = (...path: readonly string[]): string =>
  readFileSync(fromRoot('core', 'lua', ...path), 'utf8')

/** With the text of its includes. */
const wholeText = (name: string): string =>
  read(`${name}.lua`).replace(/^-- @include ([a-z-]+)$/gm, (_, part: string) =>
    read('include', `${part}.lua`),
  )

test('the catalogue of scripts lists the files of core/lua', () => {
  assert.deepEqual(Object.keys(SCRIPTS).sort(), files.sort())
})

/** `KEYS[3]`, `KEYS[3..7]`: the highest number; 0 where none is named. */
const highestKey = (text: string): number =>
  Math.max(
    0,
    ...[...text.matchAll(/KEYS\[(?:\d+\.\.)?(\d+)\]/g)].map(([, number]) => Number(number)),
  )

for (const [name, count] of Object.entries(SCRIPTS))
  test(`${name}.lua takes the keys that the catalogue says`, () => {
    const text = wholeText(name)
    if (count === null) assert.match(text, /KEYS\[\d+\.\.\]|as (?:in )?commit\.lua/)
    else assert.equal(highestKey(text), count)
  })

test('every script has a header that says what it does, takes and returns', () => {
  for (const name of files) {
    const text = read(`${name}.lua`)
    for (const part of ['Purpose', 'KEYS', 'ARGV', 'Returns'])
      assert.match(text, new RegExp(`^-- .*${part}`, 'm'), `${name}.lua: ${part}`)
  }
})
