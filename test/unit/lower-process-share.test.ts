import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'

const AUTOGROUP = '/proc/self/autogroup'
const MODULE = new URL('../../core/system/lower-process-share.js', import.meta.url).href
const CODE = `
  import { readFileSync } from 'node:fs'
  import { getPriority } from 'node:os'
  import { lowerProcessShare } from '${MODULE}'
  lowerProcessShare(5)
  let group = ''
  try { group = readFileSync('${AUTOGROUP}', 'utf8') } catch {}
  console.log(JSON.stringify([getPriority(), group]))`

const run = async (detached: boolean): Promise<readonly [number, string]> => {
  const args = ['--input-type=module', '-e', CODE]
  const child = spawn(process.execPath, args, { detached, stdio: ['ignore', 'pipe', 'inherit'] })
  return JSON.parse(await text(child.stdout)) as [number, string]
}

const skip = process.platform !== 'linux' && 'shares of a session exist on Linux only'

test('a process lowers its priority and the share of its own session', { skip }, async () => {
  const [priority, group] = await run(true)
  assert.equal(priority, getPriority() + 5)
  if (existsSync(AUTOGROUP)) assert.match(group, / nice 5$/m)
})

test('the share of a session that it does not lead stays as it is', { skip }, async () => {
  const before = existsSync(AUTOGROUP) ? readFileSync(AUTOGROUP, 'utf8') : ''
  const [priority, group] = await run(false)
  assert.equal(priority, getPriority() + 5)
  assert.equal(group, before)
})
