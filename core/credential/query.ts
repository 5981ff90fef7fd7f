import { defineCredential } from './credential-type.ts'
import { secret, shown } from './member.ts'

export const query = defineCredential({
  type: 'query',
  label: 'Query parameter',
  sends: 'the parameter; it is redacted in response headers',
  members: { name: shown('parameter_name'), value: secret('text') },
  owned: ({ name }) => ({ kind: 'query', name }),
  application: {
    kind: 'static',
    apply: ({ name, value }) => ({ headers: [], query: [{ name, value: value.reveal() }] }),
    echoed: 'value',
  },
})
