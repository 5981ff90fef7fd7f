import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { fromRoot } from '../../core/system/root.ts'
import { tempFolder } from './temp-folder.ts'

/** What was set up in a data directory of an earlier release, and which answers were given there. */
export interface ReleaseFacts {
  readonly version: string
  /** Of the API that the integrations name, on 127.0.0.1. */
  readonly api_port: number
  readonly base_urls: Readonly<Record<'bearer' | 'basic' | 'query', string>>
  readonly agent: { readonly agent_id: string; readonly api_key: string }
  readonly killed: {
    readonly agent_id: string
    readonly api_key: string
    readonly killed_at: string
  }
  readonly webhook_id: string
  /** Activity entries of calls, by their id. */
  readonly entries: readonly string[]
  readonly agents: readonly object[]
  readonly scopes: readonly object[]
}

interface Bundle {
  readonly facts: ReleaseFacts
  /** Contents in Base64 by path. */
  readonly files: Readonly<Record<string, string>>
}

const FOLDER = fromRoot('test', 'release-data')

/** Releases of which there is a data directory. */
export const releases = (): readonly string[] =>
  readdirSync(FOLDER).map((name) => name.replace('.json.gz', ''))

/** A copy of the data directory that the release wrote. */
export function openReleaseData(version: string): { folder: string; facts: ReleaseFacts } {
  const text = gunzipSync(readFileSync(join(FOLDER, `${version}.json.gz`))).toString()
  const { facts, files } = JSON.parse(text) as Bundle
  const folder = tempFolder('release')
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true, mode: 0o700 })
    writeFileSync(join(folder, path), Buffer.from(content, 'base64'), { mode: 0o600 })
  }
  return { folder, facts }
}

/** Keys, store and archive; not what a start writes again. */
const KEPT = /^(admin-token|encryption-key|verdict-secret|archive\/.*|valkey\/.*)$/

export function writeReleaseData(folder: string, facts: ReleaseFacts): string {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((path) => relative(folder, join(folder, path)))
    .filter((path) => KEPT.test(path) && statSync(join(folder, path)).isFile())
  const files = Object.fromEntries(
    paths.map((path) => [path, readFileSync(join(folder, path)).toString('base64')]),
  )
  const target = join(FOLDER, `${facts.version}.json.gz`)
  writeFileSync(target, gzipSync(JSON.stringify({ facts, files } satisfies Bundle), { level: 9 }))
  return target
}
