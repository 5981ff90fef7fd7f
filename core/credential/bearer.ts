import { AUTHORIZATION } from './authorization.ts'
import { defineCredential } from './credential-type.ts'
import { secret } from './member.ts'

export const bearer = defineCredential({
  type: 'bearer',
  label: 'Bearer token',
  sends: '`Authorization: Bearer <token>`',
  members: { token: secret('header_value') },
  owned: () => AUTHORIZATION,
  application: {
    kind: 'static',
    apply: ({ token }) => ({
      headers: [{ name: 'authorization', value: `Bearer ${token.reveal()}` }],
      query: [],
    }),
  },
})
