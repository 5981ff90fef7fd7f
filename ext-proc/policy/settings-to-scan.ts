import type { EffectiveSettings } from '../../core/policy/merge-settings.ts'
import { patternSettings } from '../../core/scanner/compile-settings.ts'
import { DeferredSettings } from '../../core/inspection/deferred-settings.ts'

/** Settings are merged once for each set of scopes, so what threads said of their patterns is kept with them. */
const known = new WeakMap<EffectiveSettings, DeferredSettings>()

/** Injection settings as this process uses them: it compiles no pattern by itself. */
export function settingsToScan(settings: EffectiveSettings): DeferredSettings {
  const held = known.get(settings)
  if (held !== undefined) return held
  const made = new DeferredSettings(patternSettings(settings.injection))
  known.set(settings, made)
  return made
}
