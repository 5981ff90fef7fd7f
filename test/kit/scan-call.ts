import type { Speaker } from '../../core/catalogue/model.ts'
import type { CompiledInjectionSettings } from '../../core/scanner/compile-settings.ts'
import { defaultSettings } from '../../core/scanner/default-settings.ts'
import { scanRequest } from '../../core/scanner/scan-request.ts'

type Call = {
  readonly method?: string
  readonly base_path?: string
  readonly path: string
  readonly content_type?: string
}

/** What is found in a JSON body that is sent to a path: who says it, and whether it blocks. */
export function scanCall(
  body: unknown,
  call: Call,
  settings: CompiledInjectionSettings = defaultSettings('medium'),
): {
  readonly blocked: boolean
  readonly speakers: readonly Speaker[]
  readonly names: string[]
  readonly recorded: string[]
} {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body))
  const result = scanRequest(
    {
      method: 'POST',
      base_path: '',
      content_type: 'application/json',
      content_encoding: null,
      query: '',
      headers: [],
      ...call,
      body: bytes,
    },
    settings,
  )
  if (result.kind !== 'scanned') throw new Error(result.kind)
  return {
    blocked: result.decision.outcome === 'blocked',
    speakers: [...new Set(result.findings.map(({ speaker }) => speaker))],
    names: result.findings.filter(({ counts }) => counts).map(({ pattern_name }) => pattern_name),
    recorded: result.findings
      .filter(({ counts }) => !counts)
      .map(({ pattern_name }) => pattern_name),
  }
}
