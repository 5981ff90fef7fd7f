import type { ScopeSettings } from '../api-types.ts'
import {
  anomalyWords,
  injectionWords,
  limitWords,
  rateWords,
  ruleWords,
  timeWords,
  toolWords,
} from '../scope-words.ts'

/** An unsaved scope in sentences. */
export const ScopeWordsList = ({ settings }: { settings: ScopeSettings }) => (
  <section aria-label="In words">
    <h2>In words</h2>
    <p>It allows:</p>
    <ul class="words">
      {settings.rules.map((rule, at) => (
        <li key={at}>{ruleWords(rule)}</li>
      ))}
    </ul>
    <p>{toolWords(settings.mcp_tools)}</p>
    <p>{rateWords(settings.rate_limiting)}</p>
    <p>{injectionWords(settings.injection_detection)}</p>
    <p>{anomalyWords(settings.anomaly_detection)}</p>
    <p>{limitWords(settings)}</p>
    <p>{timeWords(settings)}</p>
  </section>
)
