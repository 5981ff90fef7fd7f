import { useState } from 'preact/hooks'
import type { Labels, Selector } from '../../../core/catalogue/model.ts'
import {
  isNegativeSelector,
  readSelector,
  writeSelector,
} from '../../../core/catalogue/selector-text.ts'
import { TextField } from './fields.tsx'

const labelsText = (labels: Labels): string =>
  writeSelector({ match_labels: labels, match_expressions: [] })

/** A merge patch from the labels of now to those of the text; null if the text has something else. */
export function labelsPatch(now: Labels, text: string): Record<string, string | null> | null {
  const wanted = readSelector(text)
  if (wanted === null || wanted.match_expressions.length > 0) return null
  const gone = Object.keys(now).filter((key) => !Object.hasOwn(wanted.match_labels, key))
  return { ...Object.fromEntries(gone.map((key) => [key, null])), ...wanted.match_labels }
}

/** The text of labels, to begin with. */
export const useLabelsText = (labels: Labels): [string, (text: string) => void] =>
  useState(labelsText(labels))

export const LabelsField = (field: { value: string; onValue: (text: string) => void }) => (
  <TextField
    label="Labels"
    member="/labels"
    hint={
      readSelector(field.value)?.match_expressions.length === 0
        ? 'Such as team=billing,env=prod. Scopes select by them, so a label grants rights.'
        : 'Write labels as key=value, separated by commas.'
    }
    {...field}
  />
)

/** A selector as text; null while the field is empty or cannot be read. */
export function SelectorField({
  label,
  member,
  selector,
  onSelector,
}: {
  label: string
  member: string
  selector: Selector | null
  onSelector: (selector: Selector | null) => void
}) {
  const [text, setText] = useState(selector === null ? '' : writeSelector(selector))
  const isUnreadable = text.trim() !== '' && readSelector(text) === null
  return (
    <TextField
      label={label}
      member={member}
      hint={
        isUnreadable
          ? 'This is not a selector.'
          : 'Labels, such as team=billing,env in (prod,staging),!legacy'
      }
      value={text}
      onValue={(value) => {
        setText(value)
        onSelector(value.trim() === '' ? null : readSelector(value))
      }}
    />
  )
}

/** A selector with negative terms alone has to be confirmed with the number that it selects. */
export function ConfirmField({
  selectors,
  value,
  onValue,
}: {
  selectors: readonly (Selector | null)[]
  value: string
  onValue: (text: string) => void
}) {
  if (!selectors.some((one) => one !== null && isNegativeSelector(one))) return null
  return (
    <TextField
      label="Confirm how many it selects"
      member="/confirm_affected"
      type="number"
      min={0}
      hint="The selector only excludes, so it also selects what is created later. Save to learn the number."
      value={value}
      onValue={onValue}
    />
  )
}

export const SelectorText = ({ of }: { of: Selector | null }) => (
  <code>{of === null ? '' : writeSelector(of)}</code>
)
