import { useEffect, useRef } from 'preact/hooks'
import type { ComponentChildren } from 'preact'
import type { Problem } from '../api.ts'
import type { ScopeSettings } from '../api-types.ts'
import { FormIssues, issuesOf } from '../issues-of.ts'
import { linkTo } from '../place.ts'
import {
  anomalyWords,
  injectionWords,
  limitWords,
  rateWords,
  timeWords,
  toolWords,
} from '../scope-words.ts'
import { TextField } from './fields.tsx'
import { FoldedSection } from './folded-section.tsx'
import { ProblemNotice } from './notices.tsx'
import { RulesFields } from './rules-fields.tsx'
import {
  AnomalyFields,
  InjectionFields,
  LimitFields,
  RateFields,
  TimeFields,
  ToolFields,
} from './scope-fields.tsx'
import { ScopeTester, type Tried } from './scope-tester.tsx'
import { ScopeWordsList } from './scope-words-list.tsx'

/** The form of a scope, with what it means and a tester next to it. */
export function ScopeEditor({
  tried,
  onSettings,
  problem,
  isDisabled = false,
  onSubmit,
  buttons,
  children,
}: {
  tried: Tried
  onSettings: (settings: ScopeSettings) => void
  problem: Problem | null
  isDisabled?: boolean
  onSubmit: () => void
  buttons: ComponentChildren
  /** Fields before those of the settings. */
  children?: ComponentChildren
}) {
  const form = useRef<HTMLFormElement>(null)
  // The fields have marked themselves by then, and the sections around them are open.
  useEffect(() => {
    form.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus()
  }, [problem])
  return (
    <div class="editor">
      <FormIssues.Provider value={issuesOf(problem)}>
        <form
          ref={form}
          onSubmit={(event) => {
            event.preventDefault()
            onSubmit()
          }}
        >
          {children}
          <fieldset class="bare" disabled={isDisabled} aria-label="Settings of the scope">
            <ScopeFields
              agent_id={tried.agent_id}
              settings={tried.settings}
              onSettings={onSettings}
            />
          </fieldset>
          <ProblemNotice problem={problem} />
          <div class="buttons save">{buttons}</div>
        </form>
      </FormIssues.Provider>
      <aside aria-label="Meaning and test">
        <ScopeWordsList settings={tried.settings} />
        {tried.settings.agent_selector === null && tried.settings.integration_selector === null && (
          <ScopeTester tried={tried} />
        )}
      </aside>
    </div>
  )
}

const LIMIT_MEMBERS = [
  '/priority',
  '/max_body_bytes',
  '/max_response_bytes',
  '/over_limit',
  '/allow_batches',
]

const TIME_MEMBERS = ['/not_before', '/expires_at', '/end_streams']

function ScopeFields({
  agent_id,
  settings,
  onSettings,
}: {
  agent_id: string
  settings: ScopeSettings
  onSettings: (settings: ScopeSettings) => void
}) {
  const set =
    <N extends keyof ScopeSettings>(name: N) =>
    (value: ScopeSettings[N]): void =>
      onSettings({ ...settings, [name]: value })
  const { injection_detection, rate_limiting, anomaly_detection } = settings
  return (
    <>
      <TextField
        label="Name"
        member="/name"
        value={settings.name}
        onValue={set('name')}
        required
        maxLength={200}
      />
      <RulesFields rules={settings.rules} onRules={set('rules')} />
      <FoldedSection
        title="Rate limit"
        words={rateWords(rate_limiting)}
        members={['/rate_limiting']}
      >
        <RateFields rate={rate_limiting} onRate={set('rate_limiting')} />
      </FoldedSection>
      <FoldedSection
        title="Prompt injection"
        words={injectionWords(injection_detection)}
        members={['/injection_detection']}
      >
        <InjectionFields injection={injection_detection} onInjection={set('injection_detection')} />
      </FoldedSection>
      <FoldedSection
        title="MCP tools"
        words={toolWords(settings.mcp_tools)}
        members={['/mcp_tools']}
      >
        <ToolFields tools={settings.mcp_tools} onTools={set('mcp_tools')} />
      </FoldedSection>
      <AnomalySection
        agent_id={agent_id}
        anomaly={anomaly_detection}
        onAnomaly={set('anomaly_detection')}
      />
      <FoldedSection title="Begin and end" words={timeWords(settings)} members={TIME_MEMBERS}>
        <TimeFields settings={settings} onSettings={onSettings} />
      </FoldedSection>
      <FoldedSection
        title="Priority, size and batches"
        words={limitWords(settings)}
        members={LIMIT_MEMBERS}
      >
        <LimitFields settings={settings} onSettings={onSettings} />
      </FoldedSection>
    </>
  )
}

function AnomalySection({
  agent_id,
  anomaly,
  onAnomaly,
}: {
  agent_id: string
  anomaly: ScopeSettings['anomaly_detection']
  onAnomaly: (anomaly: ScopeSettings['anomaly_detection']) => void
}) {
  return (
    <FoldedSection title="Anomalies" words={anomalyWords(anomaly)} members={['/anomaly_detection']}>
      <AnomalyFields anomaly={anomaly} onAnomaly={onAnomaly} />
      {agent_id !== '' && (
        <p>
          <a href={linkTo(['anomalies'], { agent_id })}>
            View the alerts that each score would have raised
          </a>
        </p>
      )}
    </FoldedSection>
  )
}
