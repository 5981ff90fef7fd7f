import { useState } from 'preact/hooks'
import type { Rule } from '../api-types.ts'
import { useMay } from '../session.ts'
import { APPROVAL_DEFAULTS } from '../../../core/catalogue/model.ts'
import { CheckField, ChoiceField, TextField } from './fields.tsx'
import { ListArea } from './list-area.tsx'

/** The rules of the scope, a row each. The log refers to a rule by its position. */
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
    <fieldset class="rules">
      <legend>Rules</legend>
      <p class="muted">
        A call that fits any row is allowed. Paths begin below the base URL: <code>*</code> is one
        segment, <code>**</code> any number.
      </p>
      <p class="rule rules-head" aria-hidden="true">
        <span>Rule</span>
        <span>Methods</span>
        <span>Paths, one per line</span>
      </p>
      {rules.map((rule, at) => (
        <div class="rule" key={names[at]} role="group" aria-label={`Rule ${at + 1}`}>
          <span class="muted">{at + 1}</span>
          <Methods
            at={at}
            methods={rule.methods}
            onMethods={(methods) => change(at, { ...rule, methods })}
          />
          <ListArea
            label={`Paths of rule ${at + 1}, one per line`}
            member={`/rules/${at}/paths`}
            list={rule.paths}
            rows={1}
            onList={(paths) => change(at, { ...rule, paths })}
            required
          />
          {mayChange && (
            <button
              type="button"
              class="danger quiet"
              aria-label={`Remove rule ${at + 1}`}
              title={`Remove rule ${at + 1}`}
              disabled={rules.length === 1}
              onClick={() => {
                setNames(names.toSpliced(at, 1))
                onRules(rules.toSpliced(at, 1))
              }}
            >
              ×
            </button>
          )}
          <More at={at} rule={rule} onRule={(changed) => change(at, changed)} />
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

interface OfRule {
  readonly at: number
  readonly rule: Rule
  readonly onRule: (rule: Rule) => void
}

const More = (of: OfRule) => (
  <>
    <Sockets {...of} />
    <Approvals {...of} />
  </>
)

/** A handshake is a GET. */
function Sockets({ rule, onRule }: OfRule) {
  const { upgrade, ...plain } = rule
  if (rule.approval !== undefined) return null
  if (!rule.methods.some((method) => method === 'GET' || method === '*')) return null
  return (
    <CheckField
      label="WebSockets too"
      value={upgrade?.includes('websocket') === true}
      onValue={(isOn) => onRule(isOn ? { ...plain, upgrade: ['websocket'] } : plain)}
    />
  )
}

const APPROVERS = {
  none: 'needs no approval',
  '1 operator': 'each call is approved by an operator',
  '1 admin': 'each call is approved by an admin',
  '2 operator': 'each call is approved by two operators',
  '2 admin': 'each call is approved by two admins',
}

/** Who has to allow each call. What else the approval says stays as it is. A WebSocket cannot have one. */
function Approvals({ at, rule, onRule }: OfRule) {
  const { approval, ...plain } = rule
  if ((rule.upgrade ?? []).length > 0) return null
  const current = { ...APPROVAL_DEFAULTS, ...approval }
  const { needed, approvers } = current
  const value =
    approval === undefined ? 'none' : (`${needed} ${approvers}` as keyof typeof APPROVERS)
  const change = (changed: Partial<typeof current>): void =>
    onRule({ ...plain, approval: { ...current, ...changed } })
  const choose = (chosen: string): void => {
    const [count, role] = chosen.split(' ')
    if (role === undefined) onRule(plain)
    else change({ needed: Number(count), approvers: role === 'admin' ? role : 'operator' })
  }
  return (
    <>
      <ChoiceField
        label={`Approval of rule ${at + 1}`}
        member={`/rules/${at}/approval`}
        value={value}
        choices={APPROVERS}
        onValue={choose}
      />
      {approval !== undefined && (
        <CheckField
          label="One approval may allow all calls for a time"
          value={approval.reuse === 'rule'}
          onValue={(isOn) => change({ reuse: isOn ? 'rule' : 'once' })}
        />
      )}
    </>
  )
}

const METHODS = ['GET', 'GET, HEAD', 'POST', 'GET, POST', 'PUT, PATCH', 'DELETE', '*']

function Methods({
  at,
  methods,
  onMethods,
}: {
  at: number
  methods: readonly string[]
  onMethods: (methods: readonly string[]) => void
}) {
  const [text, setText] = useState(methods.join(', '))
  return (
    <>
      <TextField
        label={`Methods of rule ${at + 1}; * for all`}
        member={`/rules/${at}/methods`}
        value={text}
        required
        list={`methods-${at}`}
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
      <datalist id={`methods-${at}`}>
        {METHODS.map((some) => (
          <option key={some} value={some} />
        ))}
      </datalist>
    </>
  )
}
