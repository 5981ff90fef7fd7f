import { defineCredential } from './credential-type.ts'
import { secret, shown } from './member.ts'

export const header = defineCredential({
  type: 'header',
  label: 'Header',
  sends: 'the header',
  members: { name: shown('header_name'), value: secret('header_value') },
  owned: ({ name }) => ({ kind: 'header', name }),
  application: {
    kind: 'static',
    apply: ({ name, value }) => ({ headers: [{ name, value: value.reveal() }], query: [] }),
  },
})
