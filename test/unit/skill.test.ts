import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { test } from 'node:test'
import { SKILL_TEXT } from '../../admin/self/skill-text.ts'
import { runSkillInstall } from '../../cli/commands/skill.ts'
import { tempFolder } from '../kit/temp-folder.ts'

async function install(dir: string, yes: boolean, answer: string | null = null) {
  let said = ''
  const out = new Writable({
    write(part, _encoding, done) {
      said += String(part)
      done()
    },
  })
  const stdin = Object.assign(Readable.from(answer === null ? [] : [answer]), {
    isTTY: answer !== null,
  })
  return { code: await runSkillInstall({ dir, yes }, stdin, out, out), said: () => said }
}

test('the skill is shown, and written once confirmed; a text of others is never replaced', async () => {
  const dir = tempFolder('skills')
  const path = join(dir, 'agent-access-gateway', 'SKILL.md')
  for (const answer of [null, 'n\n', '\n']) {
    const { code, said } = await install(dir, false, answer)
    assert.equal(code, 1)
    assert.ok(said().includes(SKILL_TEXT) && said().includes(path))
    assert.throws(() => readFileSync(path), { code: 'ENOENT' })
  }
  assert.equal((await install(dir, false, 'y\n')).code, 0)
  const written = readFileSync(path, 'utf8')
  assert.ok(written.startsWith(SKILL_TEXT))
  assert.match((await install(dir, false)).said(), /up to date/)
  // Written by another version: its mark fits its text.
  const older = written.replace(SKILL_TEXT, '')
  writeFileSync(path, older.replace(/[0-9a-f]{64}/, emptyHash))
  assert.equal((await install(dir, true)).code, 0)
  assert.equal(readFileSync(path, 'utf8'), written)
  for (const other of [`${written}\nmine`, written.replace('Read', 'read'), '']) {
    writeFileSync(path, other)
    assert.equal((await install(dir, true)).code, 1)
    assert.equal(readFileSync(path, 'utf8'), other)
  }
})

test('the skill has no address, no key, and no error that does not exist', async () => {
  assert.ok(!/https?:\/\/(?!api\.example\.com|…)|agw_live_[A-Za-z0-9]/.test(SKILL_TEXT))
  const { REASONS } = await import('../../core/catalogue/reasons.ts')
  for (const [, name = ''] of SKILL_TEXT.matchAll(/^\| (?:`[a-z_]+`, )*`([a-z_]+)`/gm))
    assert.ok(name in REASONS || name === 'error' || name === 'locked', name)
  assert.ok(SKILL_TEXT.split(/\s+/).length < 1_000)
})

/** SHA-256 of nothing. */
const emptyHash = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
