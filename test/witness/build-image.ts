import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { fromRoot } from '../../core/system/root.ts'
import { tempFolder } from '../kit/temp-folder.ts'

/** What is installed in the image's Debian and by whom; images are of this machine's architecture unless `arch` says otherwise. */
export interface ImageParts {
  readonly arch: string
  /** A folder with `bin/node` and `include/node` of that architecture. */
  readonly node: string
  /** A file that stands for the prebuilt re2.node; null: re2 is compiled. */
  readonly re2: string | null
}

export const HOST_ARCH = process.arch === 'x64' ? 'amd64' : process.arch
export const HOST_PARTS: ImageParts = {
  arch: HOST_ARCH,
  node: join(process.execPath, '..', '..'),
  re2: fromRoot('node_modules/re2/build/Release/re2.node'),
}

/** Podman reads the same, and so finds the images. STORAGE_DRIVER=vfs works where overlay does not. */
export const CONTAINER_ENV = {
  STORAGE_DRIVER: 'overlay',
  ...process.env,
  BUILDAH_ISOLATION: 'chroot',
}

const PLANTED = `planted${randomBytes(12).toString('hex')}`
/** Where operators and developers keep secrets next to the sources; each has `text` when the image is built. */
export const PLANTED_SECRETS = {
  text: PLANTED,
  places: [
    '.env',
    '.env.production',
    'prod.env',
    'cli/.env',
    'core/tls.pem',
    'admin/server.key',
    '.agw/admin-token',
    'secrets/key',
    'cli/.npmrc',
    'ext-proc/debug.log',
  ],
} as const

/** Ends this process with 2 if a tool is missing. */
export function requireTools(packages: string, ...tools: readonly string[]): void {
  for (const tool of tools)
    if (spawnSync(tool, ['--version']).error !== undefined) {
      process.stdout.write(`${tool} is required: ${packages}, and run this as root.\n`)
      process.exit(2)
    }
}

export function buildah(...args: readonly string[]): string {
  return execFileSync('buildah', args, {
    env: CONTAINER_ENV,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  }).trim()
}

export const isImage = (name: string): boolean =>
  buildah('images', '--filter', `reference=${name}`, '-q') !== ''

/** A Debian 12 of mmdebstrap as a tar file, kept for the next run. */
function debianTar(arch: string, packages: readonly string[]): string {
  const cache = process.env['AGW_CACHE_DIR'] ?? join(homedir(), '.cache', 'agw')
  const tar = join(cache, ['debian-bookworm', arch, ...packages].join('-').concat('.tar'))
  mkdirSync(cache, { recursive: true })
  if (!existsSync(tar)) {
    const variant = ['--variant=apt', `--include=${['ca-certificates', ...packages].join(',')}`]
    const args = [`--architectures=${arch}`, ...variant, 'bookworm', tar]
    execFileSync('mmdebstrap', args, { stdio: 'inherit' })
  }
  return tar
}

/** An image of that Debian with what `fill` adds below its root. */
export function makeDebianImage(
  name: string,
  { arch, packages = [] }: { readonly arch: string; readonly packages?: readonly string[] },
  fill: (root: string) => void,
): void {
  const container = buildah('from', 'scratch')
  buildah('add', '-q', container, debianTar(arch, packages), '/')
  fill(buildah('mount', container))
  buildah('umount', container)
  const path = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
  buildah('config', '--arch', arch, '--env', path, container)
  buildah('commit', '-q', '--rm', container, name)
}

/** What the public base image is: Debian 12, Node, npm and Node's headers below /usr/local. */
export function makeBase({ arch, node }: ImageParts): string {
  const base = `localhost/agw-witness-node:${process.versions.node}-${arch}`
  if (isImage(base)) return base
  makeDebianImage(base, { arch }, (root) => {
    const copy = (from: string, to: string): void =>
      cpSync(from, join(root, 'usr/local', to), { recursive: true, dereference: true })
    copy(join(node, 'bin/node'), 'bin/node')
    copy(join(node, 'include/node'), 'include/node')
    copy(join(process.execPath, '../../lib/node_modules/npm'), 'lib/node_modules/npm')
    writeFileSync(
      join(root, 'usr/local/bin/npm'),
      '#!/bin/sh\nexec node /usr/local/lib/node_modules/npm/bin/npm-cli.js "$@"\n',
      { mode: 0o755 },
    )
    // The machine may reach the registry through a proxy with a CA of its own.
    const ca = '/etc/ssl/certs/ca-certificates.crt'
    cpSync(ca, join(root, ca))
    mkdirSync(join(root, 'usr/local/etc'), { recursive: true })
    writeFileSync(join(root, 'usr/local/etc/npmrc'), `cafile=${ca}\nnodedir=/usr/local\n`)
  })
  return base
}

/** A copy of the files of the repository as they are, without what Git ignores. */
export function copySources(): string {
  const folder = tempFolder('context')
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], {
    cwd: fromRoot(),
    encoding: 'utf8',
  })
  for (const file of files.split('\0'))
    if (file !== '' && existsSync(fromRoot(file))) cpSync(fromRoot(file), join(folder, file))
  return folder
}

function plantSecrets(folder: string): void {
  for (const place of PLANTED_SECRETS.places) {
    mkdirSync(join(folder, place, '..'), { recursive: true })
    writeFileSync(join(folder, place), `SECRET=${PLANTED}\n`)
  }
}

/** One for all runs: it is part of what identifies a cached layer. */
const MIRROR_PORT = 18_399

/** Answers like the host from which re2 downloads its prebuilt files. */
export async function startMirror(
  re2: string | null,
): Promise<{ readonly url: string; readonly stop: () => void }> {
  const file = re2 === null ? null : gzipSync(readFileSync(re2), { level: 1 })
  const server = createServer((request, response) => {
    const isThere = request.url?.endsWith('.gz') === true && file !== null
    response.writeHead(isThere ? 200 : 404).end(isThere ? file : '')
  })
  await new Promise<void>((resolve) => server.listen(MIRROR_PORT, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${MIRROR_PORT}`,
    stop: () => void server.close(),
  }
}

/** The Dockerfile, built from the sources of this repository on a base of this machine, without a registry of images. */
export async function buildImage(image: string, parts: ImageParts): Promise<void> {
  const base = makeBase(parts)
  const context = copySources()
  plantSecrets(context)
  const mirror = await startMirror(parts.re2)
  const began = performance.now()
  const args = `bud --pull=never --isolation chroot --format docker --layers --arch ${parts.arch}`
  const settings = [`NODE_IMAGE=${base}`, `RE2_DOWNLOAD_MIRROR=${mirror.url}`]
  const child = spawn(
    'buildah',
    [
      ...args.split(' '),
      ...settings.flatMap((each) => ['--build-arg', each]),
      '-t',
      image,
      context,
    ],
    { env: CONTAINER_ENV, stdio: ['ignore', 'ignore', 'pipe'] },
  )
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-8_000)
  })
  const code = await new Promise((resolve) => child.once('exit', resolve))
  mirror.stop()
  if (code !== 0) throw new Error(`The build failed:\n${errors}`)
  const took = ((performance.now() - began) / 1000).toFixed(1)
  process.stdout.write(`built in ${took} s${parts.re2 === null ? ', re2 compiled' : ''}\n`)
}
