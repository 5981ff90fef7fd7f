import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { defaultSettings } from '../core/scanner/default-settings.ts'
import { scanRequest } from '../core/scanner/scan-request.ts'
import {
  cookies,
  otherHeaders,
  referers,
  TRIGGER_WORDS,
  userAgents,
} from '../test/kit/usual-headers.ts'

/**
 * False alarms of the scanner on headers as clients send them: node dist/bench/header-alarms.js
 * The last two rows hold the words that attacks are made of, in random order: the worst that chance makes of them.
 * `--file FILE` scans the headers of a file instead, one `name: value` a line, such as those of an access log.
 */
const { values } = parseArgs({ options: { file: { type: 'string' } } })

const COUNT = 3000
const SHOWN = 3
const NOTHING_ELSE = {
  body: null,
  content_type: null,
  content_encoding: null,
  method: 'POST',
  base_path: '',
  path: '/v1',
  query: '',
}

type Header = readonly [name: string, value: string]

/** The headers of a file, by name. */
function headersOf(file: string): Readonly<Record<string, readonly Header[]>> {
  const kinds: Record<string, Header[]> = {}
  for (const line of new Set(readFileSync(file, 'utf8').split('\n'))) {
    const [, name, value] = /^([\w-]+): (.+)$/.exec(line) ?? []
    if (name !== undefined && value !== undefined) (kinds[name] ??= []).push([name, value])
  }
  return kinds
}

const GENERATED: Readonly<Record<string, readonly Header[]>> = {
  'user agents': userAgents().map((value) => ['user-agent', value]),
  cookies: cookies(COUNT).map((value) => ['cookie', value]),
  referers: referers(COUNT).map((value) => ['referer', value]),
  'other headers': otherHeaders(COUNT),
  'cookies of trigger words': cookies(COUNT, TRIGGER_WORDS).map((value) => ['cookie', value]),
  'referers of trigger words': referers(COUNT, TRIGGER_WORDS).map((value) => ['referer', value]),
}

for (const sensitivity of ['low', 'medium', 'high'] as const) {
  const settings = defaultSettings(sensitivity)
  for (const [kind, headers] of Object.entries(
    values.file === undefined ? GENERATED : headersOf(values.file),
  )) {
    const alarms = headers.flatMap((header) => {
      const result = scanRequest({ ...NOTHING_ELSE, headers: [header] }, settings)
      const [finding] = result.kind === 'scanned' ? result.findings : []
      return finding === undefined ? [] : [`${finding.pattern_name}: ${finding.matched_text}`]
    })
    const line = `${sensitivity.padEnd(6)}  ${kind.padEnd(25)}  ${alarms.length} of ${headers.length}`
    process.stdout.write(`${[line, ...alarms.slice(0, SHOWN)].join('\n    ')}\n`)
  }
}
