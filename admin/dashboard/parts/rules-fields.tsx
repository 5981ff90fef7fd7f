import { useState } from 'preact/hooks'
import type { Rule } from '../api-types.ts'
import { useMay } from '../session.ts'
import { TextField } from './fields.tsx'
import { ListArea } from './list-area.tsx'

/** The rules of the scope. The log refers to a rule by its position. */
export function RulesFields({
  rules,
  onRules,
}: {
  rules: readonly Rule[]
  onRules: (rules: readonly Rule[]) => void
}) {
  // Rows keep their text when an earlier row is removed.
  const [names, setNames] = useState(() => rules.map((_, at) => at))
  const mayChange = useMay('admin')
  const change = (at: number, rule: Rule): void => onRules(rules.with(at, rule))
  return (
    <fieldset>
      <legend>Rules</legend>
      <p class="muted">
        Paths begin below the base URL: <code>*</code> is one segment, <code>**</code> any number.
      </p>
      {rules.map((rule, at) => (
        <div class="rule" key={names[at]} role="group" aria-label={`Rule ${at}`}>
          <Methods
            methods={rule.methods}
            onMethods={(methods) => change(at, { ...rule, methods })}
          />
          <ListArea
            label={`Paths of rule ${at}, one per line`}
            list={rule.paths}
            onList={(paths) => change(at, { ...rule, paths })}
            required
          />
          {mayChange && (
            <button
              type="button"
              class="danger quiet"
              disabled={rules.length === 1}
              onClick={() => {
                setNames(names.toSpliced(at, 1))
                onRules(rules.toSpliced(at, 1))
              }}
            >
              Remove rule {at}
            </button>
          )}
        </div>
      ))}
      {mayChange && (
        <button
          type="button"
          onClick={() => {
            setNames([...names, Math.max(0, ...names) + 1])
            onRules([...rules, { methods: ['GET'], paths: [] }])
          }}
        >
          Add a rule
        </button>
      )}
    </fieldset>
  )
}

function Methods({
  methods,
  onMethods,
}: {
  methods: readonly string[]
  onMethods: (methods: readonly string[]) => void
}) {
  const [text, setText] = useState(methods.join(', '))
  return (
    <TextField
      label="Methods"
      hint="For example GET, POST; * for all"
      value={text}
      required
      onValue={(value) => {
        setText(value)
        onMethods(
          value
            .split(/[\s,]+/)
            .filter((method) => method !== '')
            .map((m) => m.toUpperCase()),
        )
      }}
    />
  )
}
