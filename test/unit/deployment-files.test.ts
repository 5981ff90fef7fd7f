import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { extProcAddresses } from '../../cli/launcher/ext-proc-addresses.ts'
import { fromRoot } from '../../core/system/root.ts'
import { readSettings } from '../../core/settings/settings.ts'
import { bootstrapOf } from '../../envoy/render-bootstrap.ts'
import { composeFile } from '../kit/compose-file.ts'

const SECRETS = {
  AGW_ADMIN_TOKEN: 't'.repeat(40),
  AGW_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
  AGW_VERDICT_SECRET: 'v'.repeat(64),
}

/** What `envoy-config` of the compose file renders. */
function bootstrapWith(
  env: Readonly<Record<string, string>>,
  heap_limit_bytes: number | null,
): any {
  const read = readSettings(env)
  assert.ok(read.ok)
  const { settings } = read
  return bootstrapOf(settings, {
    envoy_admin_socket: '/run/agw/envoy-admin.sock',
    ext_proc_addresses: extProcAddresses(settings, ''),
    access_log_address: settings.accessLogAddress,
    admin_socket: settings.adminSocket,
    verdict_secret: 'v'.repeat(64),
    echo_origin: null,
    trusted_ca_file: '/etc/ssl/certs/ca-certificates.crt',
    heap_limit_bytes,
  })
}

for (const [workers, limit, monitor] of [
  [undefined, null, 'cgroup_memory'],
  ['7', 1024 ** 3, 'fixed_heap'],
] as const)
  test(`Compose: as many endpoints as processes (${workers ?? 'default'}), and the memory limit by ${monitor}`, () => {
    const { services } = composeFile({
      ...SECRETS,
      ...(workers === undefined ? {} : { AGW_EXT_PROC_WORKERS: workers }),
    })
    const { command = [] } = services['ext-proc'] ?? {}
    const processes = Number(command[command.indexOf('--processes') + 1])
    assert.equal(processes, Number(workers ?? 2))
    const bootstrap = bootstrapWith(services['envoy-config']?.environment ?? {}, limit)
    const { clusters } = bootstrap.static_resources
    const { load_assignment } = clusters.find(({ name }: any) => name === 'ext_proc')
    const paths = load_assignment.endpoints[0].lb_endpoints.map(
      ({ endpoint }: any) => endpoint.address.pipe.path,
    )
    assert.equal(paths.length, processes)
    assert.equal(new Set(paths).size, processes)
    // Both sides derive the addresses from the same setting.
    assert.equal(
      services['ext-proc']?.environment?.['AGW_EXT_PROC_ADDRESS'],
      services['envoy-config']?.environment?.['AGW_EXT_PROC_ADDRESS'],
    )
    const { resource_monitors, actions } = bootstrap.overload_manager
    const name = `envoy.resource_monitors.${monitor}`
    assert.deepEqual(
      resource_monitors.map((one: any) => one.name),
      [name, 'envoy.resource_monitors.global_downstream_max_connections'],
    )
    for (const { triggers } of actions)
      assert.deepEqual(
        triggers.map((one: any) => one.name),
        [name],
      )
  })

const dockerfile = readFileSync(fromRoot('Dockerfile'), 'utf8')
const [, build = '', result = ''] = dockerfile.split(/^FROM /m)

test('image: the base is pinned, the user is not root, and only named files are copied', () => {
  assert.match(dockerfile, /^ARG NODE_IMAGE=\S+@sha256:[0-9a-f]{64}$/m)
  assert.match(build, /^\$\{NODE_IMAGE\} AS build\n/)
  assert.match(result, /^\$\{NODE_IMAGE\}\n/)
  assert.match(result, /^USER [1-9]\d*:[1-9]\d*$/m)
  const copies = [...dockerfile.matchAll(/^COPY (.*)$/gm)].map(([, what]) => what)
  for (const what of copies) assert.doesNotMatch(what ?? '', /^\.\s|\s\.\s|\*/)
  assert.deepEqual(copies.slice(-1), ['--from=build /image /app'])
  const patterns = readFileSync(fromRoot('.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  assert.equal(patterns[0], '*')
  // The last matching pattern decides, so that hidden files and keys stay out of the named folders.
  for (const secret of ['**/.*', '**/*.env', '**/*.key', '**/*.pem'])
    assert.ok(patterns.indexOf(secret) > patterns.lastIndexOf('!cli'), secret)
})

test('image: every program, and every file that a program reads, is copied', () => {
  const listed = /cp -r --parents -t \/image((?: \\\n[^\n]*?)+)\n {2}&&/.exec(build)?.[1] ?? ''
  const paths = listed.split(/[\s\\]+/).filter((path) => path !== '')
  const isCopied = (path: string): boolean =>
    paths.some((one) => path === one || path.startsWith(`${one}/`))
  const programs = /PROGRAMS = \[([^\]]*)\]/.exec(
    readFileSync(fromRoot('cli', 'bundle-programs.mjs'), 'utf8'),
  )?.[1]
  const needed = [...(programs ?? '').matchAll(/'([^']+)'/g)].map(([, name]) => `dist/${name}.js`)
  assert.ok(needed.length >= 7)
  for (const source of sourcesBelow(['core', 'ext-proc', 'admin', 'cli', 'envoy'])) {
    const text = readFileSync(fromRoot(source), 'utf8')
    for (const [, args = ''] of text.matchAll(/fromRoot\(((?:'[^']+'(?:, )?)+)/g)) {
      const path = [...args.matchAll(/'([^']+)'/g)].map(([, part]) => part).join('/')
      if (!isFolderOfMany(path)) needed.push(path)
    }
  }
  const missing = needed.filter((path) => !isCopied(path))
  assert.deepEqual(missing, [])
})

/** The start of a path whose rest is computed, and what only developers run. */
const isFolderOfMany = (path: string): boolean =>
  [
    'dist',
    'admin/console',
    'admin/oauth',
    'admin/openapi',
    'docs/reference',
    'test/witness/refusals/recordings.json',
  ].includes(path)

const sourcesBelow = (folders: readonly string[]): string[] =>
  folders.flatMap((folder) =>
    readdirSync(fromRoot(folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => `${folder}/${name}`),
  )
