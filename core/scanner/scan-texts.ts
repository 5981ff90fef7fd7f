import type { CompiledInjectionSettings } from './compile-settings.ts'
import type { Finding } from './finding.ts'
import type { Source } from './format/source.ts'
import { scanSource } from './scan-source.ts'
import type { SearchBudget } from './text/search-budget.ts'

/** The findings of each text; all texts share one budget. */
export const scanTexts = (
  texts: readonly Source[],
  settings: CompiledInjectionSettings,
  budget: SearchBudget,
): readonly (readonly Finding[])[] =>
  texts.map((text) => {
    const found: Finding[] = []
    scanSource(text, settings, found, budget)
    return found
  })
