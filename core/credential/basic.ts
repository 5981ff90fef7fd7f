import { AUTHORIZATION } from './authorization.ts'
import { defineCredential } from './credential-type.ts'
import { secret } from './member.ts'

/** Some APIs take their key as the user name, with any password or none (`curl -u sk_live_…:`), so both are secret. */
export const basic = defineCredential({
  type: 'basic',
  label: 'Basic: user name and password',
  sends: '`Authorization: Basic …`',
  members: {
    username: secret('user_name', { may_be_empty: true, was_public: true }),
    password: secret('text', { may_be_empty: true }),
  },
  owned: () => AUTHORIZATION,
  application: {
    kind: 'static',
    apply: ({ username, password }) => {
      const pair = Buffer.from(`${username.reveal()}:${password.reveal()}`, 'utf8')
      const value = `Basic ${pair.toString('base64')}`
      return { headers: [{ name: 'authorization', value }], query: [] }
    },
  },
})
