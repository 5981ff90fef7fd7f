import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  accessSync,
  constants,
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
} from 'node:fs'
import { chmod, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import type { Settings } from '../../core/settings/settings.ts'
import { ENVOY_VERSIONS } from '../../envoy/envoy-versions.ts'
import { ENVOY, VALKEY } from './pinned-binaries.ts'
import type { PinnedBinary } from './pinned-binaries.ts'

type Where = Pick<Settings, 'envoyBin' | 'valkeyBin' | 'cacheDir'>
export type Progress = (line: string) => void

const run = promisify(execFile)
const INSTALL_LIMIT_MS = 15 * 60_000
const VERSION_LIMIT_MS = 20_000

/** An executable that was found. */
export interface FoundBinary {
  readonly file: string
  readonly version: string
}

/**
 * The Envoy to run: ENVOY_BIN, else a 1.40 on PATH, else the pinned one, which is installed first if necessary. Throws
 * with one sentence that says what to do.
 */
export async function findEnvoy(where: Where, progress: Progress = () => {}): Promise<string> {
  const found = await lookForEnvoy(where)
  return found?.file ?? (await installedBinary(ENVOY, 'ENVOY_BIN', where, progress))
}

/** The Valkey to run: VALKEY_BIN, else a Valkey or Redis of version 7 or newer on PATH, else the pinned one. */
export async function findValkey(where: Where, progress: Progress = () => {}): Promise<string> {
  const found = await lookForValkey(where)
  return found?.file ?? (await installedBinary(VALKEY, 'VALKEY_BIN', where, progress))
}

/** The installed Envoy; null if one has to be installed. Throws when ENVOY_BIN cannot be used. */
export async function lookForEnvoy(where: Where): Promise<FoundBinary | null> {
  if (where.envoyBin !== null) {
    const version = await versionOf(where.envoyBin, ENVOY_VERSION)
    if (version !== null && ENVOY_VERSIONS.includes(version))
      return { file: where.envoyBin, version }
    throw new Error(
      `ENVOY_BIN is ${describe(version)}, but Envoy ${ENVOY_VERSIONS.join(' or ')} is required.`,
    )
  }
  const onPath = await firstOnPath(['envoy'], ENVOY_VERSION, isEnvoy)
  return onPath ?? (await cachedBinary(ENVOY, where))
}

/** The installed Valkey or Redis, in the same way. */
export async function lookForValkey(where: Where): Promise<FoundBinary | null> {
  if (where.valkeyBin !== null) {
    const version = await versionOf(where.valkeyBin, VALKEY_VERSION)
    if (version !== null && isValkey(version)) return { file: where.valkeyBin, version }
    throw new Error(
      `VALKEY_BIN is ${describe(version)}, but Valkey or Redis 7 or newer is required.`,
    )
  }
  const onPath = await firstOnPath(['valkey-server', 'redis-server'], VALKEY_VERSION, isValkey)
  return onPath ?? (await cachedBinary(VALKEY, where))
}

const ENVOY_VERSION = /\/(\d+\.\d+)\.\d+[^/]*\//
const VALKEY_VERSION = /v=(\d+\.\d+)/

/** What is on the PATH by chance is only used if it is the version that the gateway is developed with. */
const isEnvoy = (version: string): boolean => version === ENVOY_VERSIONS.at(-1)
/** Scripts use flags that came with Redis 7. */
const isValkey = (version: string): boolean => Number.parseFloat(version) >= 7

const describe = (version: string | null): string =>
  version === null ? 'a program that does not report its version' : `version ${version}`

async function firstOnPath(
  names: readonly string[],
  pattern: RegExp,
  fits: (version: string) => boolean,
): Promise<FoundBinary | null> {
  for (const name of names) {
    for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
      const file = join(folder, name)
      if (folder === '' || !isExecutable(file)) continue
      const version = await versionOf(file, pattern)
      if (version !== null && fits(version)) return { file, version }
    }
  }
  return null
}

async function versionOf(file: string, pattern: RegExp): Promise<string | null> {
  try {
    const { stdout } = await run(file, ['--version'], { timeout: VERSION_LIMIT_MS })
    return pattern.exec(stdout)?.[1] ?? null
  } catch {
    return null
  }
}

async function installedBinary(
  binary: PinnedBinary,
  setting: string,
  where: Where,
  progress: Progress,
): Promise<string> {
  const file = binary.files[`${process.platform}-${process.arch}`]
  if (file === undefined) {
    throw new Error(
      `${binary.program} is not on PATH, and no package is available for ${process.platform} on ${process.arch}. Install ${binary.program} ${binary.version} and set ${setting} to it.`,
    )
  }
  const cache = where.cacheDir ?? userCache()
  const target = cachedFile(binary, where)
  progress(`Installing ${binary.program} ${binary.version} into ${cache} …`)
  mkdirSync(cache, { recursive: true, mode: 0o700 })
  const folder = mkdtempSync(join(cache, 'install-'))
  try {
    await pipInstall(binary, setting, folder)
    const program = join(folder, file.path)
    const found = existsSync(program) ? await sha256(program) : 'nothing'
    if (found !== file.sha256) {
      throw new Error(
        `The downloaded ${binary.program} has SHA-256 ${found} instead of ${file.sha256} and was deleted. Install ${binary.program} ${binary.version} yourself and set ${setting} to it.`,
      )
    }
    await chmod(program, 0o755)
    await rename(program, target)
    return target
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const cachedFile = ({ program, version }: PinnedBinary, { cacheDir }: Where): string =>
  join(cacheDir ?? userCache(), `${program}-${version}`)

async function cachedBinary(binary: PinnedBinary, where: Where): Promise<FoundBinary | null> {
  const target = cachedFile(binary, where)
  const pinned = binary.files[`${process.platform}-${process.arch}`]
  const isThere = existsSync(target) && (await sha256(target)) === pinned?.sha256
  return isThere ? { file: target, version: binary.version } : null
}

async function pipInstall(binary: PinnedBinary, setting: string, folder: string): Promise<void> {
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check']
  const plain = ['--no-deps', '--no-compile', '--only-binary', ':all:', '--target', folder]
  try {
    await run('python3', [...pip, ...plain, binary.requirement], { timeout: INSTALL_LIMIT_MS })
  } catch (error) {
    const { code, stderr } = error as { code?: string | number; stderr?: string }
    const cause =
      code === 'ENOENT'
        ? 'python3 is not on PATH'
        : (stderr?.trim().split('\n').at(-1) ?? String(error))
    throw new Error(
      `${binary.program} is not on PATH and could not be installed: ${cause}. Install Python 3.11 with pip and access to a package index, or install ${binary.program} ${binary.version} and set ${setting} to it.`,
    )
  }
}

const userCache = (): string => {
  const base =
    process.env['XDG_CACHE_HOME'] ||
    (process.platform === 'darwin'
      ? join(homedir(), 'Library', 'Caches')
      : join(homedir(), '.cache'))
  return join(base, 'agw')
}

async function sha256(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), hash)
  return hash.digest('hex')
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
