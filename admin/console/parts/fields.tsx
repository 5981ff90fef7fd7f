import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { useIssues } from '../issues-of.ts'

interface Labelled {
  readonly label: string
  readonly hint?: string | undefined
  /** The JSON pointer of the member in the request; its errors are shown at the field. */
  readonly member?: string | undefined
}

interface ControlProps {
  readonly id: string
  readonly 'aria-describedby'?: string
  readonly 'aria-invalid'?: true
}

/** A label with its control, its errors and a hint. */
function Field({
  label,
  hint,
  member,
  children,
}: Labelled & {
  children: (props: ControlProps) => ComponentChildren
}) {
  const id = useId()
  const issues = useIssues(member)
  const isInvalid = issues.length > 0
  const described = [
    ...(isInvalid ? [`${id}-error`] : []),
    ...(hint === undefined ? [] : [`${id}-hint`]),
  ].join(' ')
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        ...(described === '' ? {} : { 'aria-describedby': described }),
        ...(isInvalid ? { 'aria-invalid': true } : {}),
      })}
      {isInvalid && (
        <small id={`${id}-error`} class="error">
          {issues.join('. ')}
        </small>
      )}
      {hint !== undefined && (
        <small id={`${id}-hint`} class="muted">
          {hint}
        </small>
      )}
    </div>
  )
}

export function TextField({
  label,
  hint,
  member,
  value,
  onValue,
  type = 'text',
  autocomplete,
  ...more
}: Labelled & {
  value: string
  onValue: (value: string) => void
  type?: 'text' | 'password' | 'number' | 'url' | 'email' | 'search' | 'datetime-local'
  autocomplete?: 'current-password'
  required?: boolean
  autoFocus?: boolean
  placeholder?: string
  maxLength?: number
  min?: number
  max?: number
  step?: number | 'any'
  list?: string
}) {
  return (
    <Field label={label} hint={hint} member={member}>
      {(ids) => {
        // Preact's types depend on the input type, which is a parameter here.
        const kind = { type, ...more } as { type: 'text'; list?: string }
        return (
          <input
            {...ids}
            {...kind}
            value={value}
            autocomplete={autocomplete ?? (type === 'password' ? 'new-password' : 'off')}
            spellcheck={false}
            onInput={(event) => onValue(event.currentTarget.value)}
          />
        )
      }}
    </Field>
  )
}

export function TextArea({
  label,
  hint,
  member,
  value,
  onValue,
  rows = 3,
  ...more
}: Labelled & {
  value: string
  onValue: (value: string) => void
  rows?: number
  required?: boolean
}) {
  return (
    <Field label={label} hint={hint} member={member}>
      {(ids) => (
        <textarea
          {...ids}
          {...more}
          rows={rows}
          spellcheck={false}
          value={value}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    </Field>
  )
}

export function SelectField({
  label,
  hint,
  member,
  value,
  onValue,
  options,
}: Labelled & {
  value: string
  onValue: (value: string) => void
  /** Value and its label. */
  options: readonly (readonly [value: string, text: string])[]
}) {
  return (
    <Field label={label} hint={hint} member={member}>
      {(ids) => (
        <select {...ids} value={value} onChange={(event) => onValue(event.currentTarget.value)}>
          {options.map(([option, text]) => (
            <option key={option} value={option}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

/** A select for the values of a type; a value without a label does not compile. */
export const ChoiceField = <T extends string>({
  choices,
  onValue,
  ...field
}: Labelled & {
  value: T
  onValue: (value: T) => void
  choices: Readonly<Record<T, string>>
}) => (
  <SelectField
    {...field}
    options={Object.entries<string>(choices)}
    onValue={(value) => onValue(value as T)}
  />
)

/** One of few values, all of them shown. */
export function RadioField<T extends string>({
  label,
  value,
  onValue,
  choices,
}: {
  label: string
  value: T
  onValue: (value: T) => void
  choices: Readonly<Partial<Record<T, string>>>
}) {
  const name = useId()
  return (
    <fieldset>
      <legend>{label}</legend>
      {Object.entries(choices).map(([choice, text]) => (
        <label key={choice} class="choice">
          <input
            type="radio"
            name={name}
            checked={choice === value}
            onChange={() => onValue(choice as T)}
          />{' '}
          {String(text)}
        </label>
      ))}
    </fieldset>
  )
}

export function CheckField({
  label,
  hint,
  value,
  onValue,
}: Labelled & { value: boolean; onValue: (value: boolean) => void }) {
  const id = useId()
  return (
    <div class="check">
      <input
        id={id}
        type="checkbox"
        checked={value}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onChange={(event) => onValue(event.currentTarget.checked)}
      />
      <label for={id}>{label}</label>
      {hint !== undefined && (
        <small id={`${id}-hint`} class="muted">
          {hint}
        </small>
      )}
    </div>
  )
}

/** The name that a new or changed resource gets. */
export const NameField = (field: {
  value: string
  onValue: (value: string) => void
  member?: string
}) => <TextField label="Name" required autoFocus maxLength={200} {...field} />

/** Entries of a list, one per line. */
export const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

/** When a key or token expires, in local time. */
export const ExpiryField = (field: { value: string; onValue: (value: string) => void }) => (
  <TextField
    label="Expires"
    hint="Your local time. Leave empty for never."
    type="datetime-local"
    {...field}
  />
)

/** The local time of a `datetime-local` input in the form of the API; empty for an empty one. */
export const utcOf = (local: string): string | undefined =>
  local === '' ? undefined : new Date(local).toISOString()

/** A time of the API as a `datetime-local` value: local, to the second. */
export function localOf(utc: string | undefined): string {
  const date = new Date(utc ?? '')
  if (Number.isNaN(date.getTime())) return ''
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
}
