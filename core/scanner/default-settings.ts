import { SCOPE_DEFAULTS } from '../catalogue/model.ts'
import { type CompiledInjectionSettings, compileInjectionSettings } from './compile-settings.ts'
import type { Sensitivity } from '../catalogue/model.ts'

/** The settings of a scope that sets only the sensitivity. */
export const defaultSettings = (sensitivity: Sensitivity): CompiledInjectionSettings => {
  const settings = compileInjectionSettings({ ...SCOPE_DEFAULTS.injection_detection, sensitivity })
  if (!settings.ok) throw new Error('the default settings do not compile')
  return settings.compiled
}
