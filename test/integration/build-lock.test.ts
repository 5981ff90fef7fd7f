import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readlinkSync, rmSync } from 'node:fs'
import { symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fromRoot } from '../../core/system/root.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import { until } from '../kit/until.ts'

/** A checkout without sources: its build begins, and fails at once. */
function checkout(holder: number): { readonly lock: string; readonly prepare: string } {
  const root = tempFolder('checkout')
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  for (const path of ['tsconfig.json', join('admin', 'console', 'tsconfig.json')])
    put(path, '{ "files": [] }')
  put(join('envoy', 'bootstrap.yaml'), '')
  put(join('dist', 'none'), '')
  mkdirSync(join(root, 'cli'))
  const programs = ['prepare', 'bundle-programs', 'install-packages', 'third-party']
  for (const path of [
    'package.json',
    'package-lock.json',
    ...programs.map((name) => join('cli', `${name}.mjs`)),
  ])
    copyFileSync(fromRoot(path), join(root, path))
  symlinkSync(fromRoot('node_modules'), join(root, 'node_modules'))
  const lock = join(root, 'dist', '.building')
  symlinkSync(String(holder), lock)
  return { lock, prepare: join(root, 'cli', 'prepare.mjs') }
}

test('a build waits for another one of its checkout, and leaves no lock when it fails', async () => {
  const { lock, prepare } = checkout(process.pid)
  const build = spawn(process.execPath, [prepare, 'build'])
  let said = ''
  build.stderr.on('data', (part) => (said += part))
  const ended = new Promise((resolve) => build.once('close', resolve))
  await until('that it waits', () => said.includes('\n'))
  assert.equal(said, `Waiting for the build of process ${process.pid} …\n`)
  assert.equal(readlinkSync(lock), String(process.pid))
  rmSync(lock)
  assert.equal(await ended, 1)
  assert.match(said, /^Building …$/m)
  assert.match(said, /^The build failed\.$/m)
  assert.throws(() => readlinkSync(lock), { code: 'ENOENT' })
})

test('the lock of a build that was killed counts no more', () => {
  const { pid } = spawnSync(process.execPath, ['--version'])
  const { lock, prepare } = checkout(pid)
  const { stderr, status } = spawnSync(process.execPath, [prepare, 'build'], { encoding: 'utf8' })
  assert.match(stderr, /^Building …\n/)
  assert.equal(status, 1)
  assert.throws(() => readlinkSync(lock), { code: 'ENOENT' })
})
