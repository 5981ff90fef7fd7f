import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import type { Sensitivity } from '../../core/catalogue/model.ts'
import type { CompiledInjectionSettings } from '../../core/scanner/compile-settings.ts'
import { defaultSettings } from '../../core/scanner/default-settings.ts'
import { detectionsOf } from '../../core/scanner/detections-of.ts'
import { scanRequest } from '../../core/scanner/scan-request.ts'
import { terminalJson } from '../terminal/terminal-text.ts'

const SENSITIVITIES: readonly Sensitivity[] = ['low', 'medium', 'high']

type Line = {
  readonly id: unknown
  readonly body: string
  readonly content_type: string | null
  readonly path: string | null
}

const readLine = (line: string): Line | string => {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch (error) {
    return `is not JSON: ${(error as Error).message}`
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'is not an object'
  const { id, body, content_type, path } = value as Record<string, unknown>
  if (typeof body !== 'string') return 'has no string member "body"'
  if (content_type !== undefined && content_type !== null && typeof content_type !== 'string')
    return 'has a "content_type" that is not a string'
  if (path !== undefined && path !== null && typeof path !== 'string')
    return 'has a "path" that is not a string'
  return { id: id ?? null, body, content_type: content_type ?? null, path: path ?? null }
}

const answer = (line: Line, settings: CompiledInjectionSettings): string => {
  const body = Buffer.from(line.body)
  const result = scanRequest(
    {
      body,
      content_type: line.content_type,
      content_encoding: null,
      method: line.path === null ? null : 'POST',
      base_path: '',
      path: line.path ?? '',
      query: '',
      headers: [],
    },
    settings,
    Math.max(body.length, 1),
  )
  return terminalJson({
    id: line.id,
    blocked: result.kind !== 'scanned' || result.decision.outcome === 'blocked',
    detections: detectionsOf(result.kind === 'scanned' ? result.findings : [], settings),
  })
}

/**
 * `agw scan`: reads NDJSON `{id, body, content_type?, path?}` and writes NDJSON `{id, blocked, detections}` in the
 * same order, as mode `block` would decide. Without `path`, a body is taken as sent to the API whose shape it has.
 * @returns the exit code: 0 done, 2 if the sensitivity or a line is invalid
 */
export const runScan = async (
  args: { readonly sensitivity: string },
  stdin: Readable,
  stdout: Writable,
  stderr: Writable = process.stderr,
): Promise<number> => {
  if (!SENSITIVITIES.includes(args.sensitivity as Sensitivity)) {
    stderr.write(
      `agw scan: --sensitivity must be one of ${SENSITIVITIES.join(', ')}, not "${args.sensitivity}"\n`,
    )
    return 2
  }
  const settings = defaultSettings(args.sensitivity as Sensitivity)
  let number = 0
  for await (const text of createInterface({ input: stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
    number += 1
    if (text.trim() === '') continue
    const line = readLine(text)
    if (typeof line === 'string') {
      stderr.write(`agw scan: line ${number} ${line}\n`)
      return 2
    }
    if (!stdout.write(`${answer(line, settings)}\n`))
      await new Promise((resume) => stdout.once('drain', resume))
  }
  return 0
}
