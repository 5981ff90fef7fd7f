import type { Agent } from '../api-types.ts'
import { SelectField } from './fields.tsx'

type Choice = Agent['unlisted_hosts']

/** @param unset what null is called; without it, a choice is required */
export const UnlistedField = ({
  value,
  onValue,
  unset,
}: {
  value: Choice
  onValue: (value: Choice) => void
  unset?: string
}) => (
  <SelectField
    label="Hosts in no integration"
    member="/unlisted_hosts"
    hint="Through the forward proxy, without a credential. Private addresses stay closed. An alert stands while they are allowed."
    value={value ?? ''}
    onValue={(chosen) => onValue(chosen === 'allow' || chosen === 'refuse' ? chosen : null)}
    options={[
      ...(unset === undefined ? [] : [['', unset] as const]),
      ['refuse', 'refuse'],
      ['allow', 'allow'],
    ]}
  />
)
