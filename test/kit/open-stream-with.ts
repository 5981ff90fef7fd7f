import type { CompiledInjectionSettings } from '../../core/scanner/compile-settings.ts'
import { openByteScanner } from '../../core/scanner/scan-bytes.ts'
import { openStreamScanner } from '../../core/scanner/scan-stream.ts'
import type { StreamScanner } from '../../core/scanner/stream/passing-scan.ts'
import { scanTexts } from '../../core/scanner/scan-texts.ts'
import { SearchBudget } from '../../core/scanner/text/search-budget.ts'

/** A scanner of a stream that does all of its work here. */
export const openStreamWith = (
  settings: CompiledInjectionSettings,
  content_encoding: string | null,
  reading: 'events' | 'bytes' = 'events',
): StreamScanner =>
  (reading === 'events' ? openStreamScanner : openByteScanner)(
    settings,
    (texts) => scanTexts(texts, settings, new SearchBudget()),
    content_encoding,
  )
