import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findEnvoy, findValkey } from '../../cli/deployment/binaries.ts'
import { fromRoot } from '../../core/system/root.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import { startCompanyApi } from '../kit/company-calls.ts'

// Runs the commands of docs/guides/existing-envoy.md as they stand, in an empty folder, and prints how long they take:
//   node dist/test/witness/existing-envoy.js
// Only the API differs: it is a server of this machine in place of https://httpbin.org, so its address is allowed. The ports of
// the guide (8080, 8081, 8090, 9901, 10000) must be free.

const guide = readFileSync(fromRoot('docs', 'guides', 'existing-envoy.md'), 'utf8')
const blocks = [...guide.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text)
const api = await startCompanyApi()
const folder = tempFolder('guide')
const bin = join(folder, 'bin')
const work = join(folder, 'work')
mkdirSync(bin)
mkdirSync(work)
const where = {
  envoyBin: process.env['ENVOY_BIN'] ?? null,
  valkeyBin: process.env['VALKEY_BIN'] ?? null,
  cacheDir: process.env['AGW_CACHE_DIR'] ?? null,
}
const programs = {
  agw: `${process.execPath} ${fromRoot('dist', 'cli', 'bin.js')}`,
  envoy: await findEnvoy(where),
  'valkey-server': await findValkey(where),
}
for (const [name, command] of Object.entries(programs)) {
  writeFileSync(join(bin, name), `#!/bin/sh\nexec ${command} "$@"\n`)
  chmodSync(join(bin, name), 0o755)
}
const script = [
  'set -e',
  `trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT`,
  'step() { echo "== $1 at ${SECONDS} s"; }',
  ...blocks.map((text, i) => `step "block ${i + 1} of ${blocks.length}"\n${text}`),
  'step end',
]
  .join('\n')
  .replaceAll('https://httpbin.org', api.origin)
writeFileSync(join(work, 'guide.sh'), script)
const began = performance.now()
const child = spawn('bash', ['guide.sh'], {
  cwd: work,
  env: {
    PATH: `${bin}:${process.env['PATH'] ?? ''}`,
    HOME: work,
    AGW_EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
  },
  stdio: ['ignore', 'pipe', 'inherit'],
})
let text = ''
child.stdout.setEncoding('utf8').on('data', (part: string) => {
  text += part
  process.stdout.write(part)
})
const code = await new Promise<number | null>((resolve) => child.once('exit', resolve))
if (code !== 0) {
  process.stdout.write(
    spawnSync('sh', ['-c', 'tail -n 5 run/*.log | cut -c 1-400'], { cwd: work }).stdout,
  )
  throw new Error(`the commands of the guide ended with ${code}`)
}
const [seen, ...others] = api.seen
if (others.length > 0 || seen?.includes('the-credential-of-the-api') !== true)
  throw new Error(`the API received ${JSON.stringify(api.seen)}`)
for (const expected of ['public\n403\nprivate\n', 'permission_denied'])
  if (!text.includes(expected)) throw new Error(`the output lacks ${JSON.stringify(expected)}`)
await api.stop()
process.stdout.write(
  `${blocks.length} blocks of commands, ${((performance.now() - began) / 1000).toFixed(1)} s to the first allowed call\n`,
)
