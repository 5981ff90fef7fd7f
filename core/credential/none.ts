import { AUTHORIZATION } from './authorization.ts'
import { defineCredential } from './credential-type.ts'

export const none = defineCredential({
  type: 'none',
  label: 'None',
  sends: 'no credential',
  members: {},
  owned: () => AUTHORIZATION,
  application: { kind: 'static', apply: () => ({ headers: [], query: [] }) },
})
