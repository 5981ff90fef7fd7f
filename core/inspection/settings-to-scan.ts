import type { EffectiveSettings } from '../decision/merge-settings.ts'
import { patternSettings } from '../scanner/compile-settings.ts'
import { DeferredSettings } from './deferred-settings.ts'

/** Settings are merged once per set of scopes, so what the workers reported about their patterns is cached with them. */
const known = new WeakMap<EffectiveSettings, DeferredSettings>()

/** Injection settings as used by this process, which never compiles patterns itself. */
export function settingsToScan(settings: EffectiveSettings): DeferredSettings {
  const held = known.get(settings)
  if (held !== undefined) return held
  const made = new DeferredSettings(patternSettings(settings.injection))
  known.set(settings, made)
  return made
}
