import type { CompiledInjectionSettings } from '../../core/scanner/compile-settings.ts'
import type { ScanResult } from '../../core/scanner/scan-request.ts'
import { scanJson } from './scan-json.ts'

/** What the scanner says of a call to a chat API with one message of a user. */
export const scanChat = (content: string, settings: CompiledInjectionSettings): ScanResult =>
  scanJson(JSON.stringify({ messages: [{ role: 'user', content }] }), settings)
