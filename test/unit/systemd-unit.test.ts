import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fromRoot } from '../../core/system/root.ts'
import { SETTINGS } from '../../core/settings/settings.ts'
import { tempFolder } from '../kit/temp-folder.ts'

const NAME = 'agent-access-gateway.service'
const text = readFileSync(fromRoot('cli', 'systemd', NAME), 'utf8')

/** The values of a key, in order. */
const values = (key: string): string[] =>
  [...text.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value = '']) => value)

test('systemd accepts the unit', (t) => {
  const folder = tempFolder('systemd')
  const verify = (content: string): { status: number | null; said: string } => {
    const file = join(folder, NAME)
    // Node is elsewhere on some machines, which is no error of the unit.
    writeFileSync(file, content.replaceAll('/usr/bin/node', process.execPath))
    const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', file], {
      encoding: 'utf8',
    })
    return { status, said: `${stdout}${stderr}` }
  }
  if (spawnSync('systemd-analyze', ['--version']).status !== 0) {
    t.diagnostic('systemd-analyze is not installed: only the other tests look at the unit')
    return
  }
  assert.deepEqual(verify(text), { status: 0, said: '' })
  assert.match(verify(text.replace('KillMode', 'KilMode')).said, /Unknown key/)
})

test('the unit starts a program that exists, with settings that exist', () => {
  const [command = ''] = values('ExecStart')
  const [, script = '', argument] = command.split(' ')
  assert.ok(existsSync(fromRoot(script)), script)
  assert.equal(argument, 'start')
  const known = new Set<string>(Object.values(SETTINGS).map(({ name }) => name))
  const set = values('Environment').flatMap((line) => line.split(' '))
  for (const assignment of set) {
    const [name = ''] = assignment.split('=')
    assert.ok(known.has(name) || name === 'NODE_ENV', name)
  }
})

test('the launcher decides the order of a stop and may notify systemd through a child', () => {
  assert.deepEqual(values('KillMode'), ['mixed'])
  assert.deepEqual(values('Type'), ['notify'])
  assert.deepEqual(values('NotifyAccess'), ['all'])
  assert.deepEqual(values('OOMPolicy'), ['continue'])
})
