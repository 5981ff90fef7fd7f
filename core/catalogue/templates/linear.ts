import type { ApiTemplate } from './template.ts'

export const linear: ApiTemplate = {
  name: 'linear',
  title: 'Linear',
  base_url: 'https://api.linear.app',
  // A personal API key, without a scheme.
  auth: { type: 'header', name: 'authorization' },
  secrets: { value: 'LINEAR_API_KEY' },
  // GraphQL: a query and a mutation are the same call, so there is no action that only reads.
  actions: { write: ['POST /graphql'] },
  description: { none: 'a GraphQL API: one method and one path for everything' },
}
