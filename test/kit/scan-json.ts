import type { CompiledInjectionSettings } from '../../core/scanner/compile-settings.ts'
import { type ScanResult, scanRequest } from '../../core/scanner/scan-request.ts'

const CALL = {
  content_type: 'application/json',
  content_encoding: null,
  method: null,
  base_path: '',
  path: '',
  query: '',
  headers: [],
}

/** What the scanner says of a call whose body is this JSON text, and in which nothing else is. */
export function scanJson(text: string, settings: CompiledInjectionSettings): ScanResult {
  const body = Buffer.from(text)
  return scanRequest({ ...CALL, body }, settings, Math.max(body.length, 1))
}
