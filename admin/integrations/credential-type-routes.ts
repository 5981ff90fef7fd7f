import { Type } from 'typebox'
import { CREDENTIAL_TYPES } from '../../core/credential/catalogue.ts'
import type { CredentialType } from '../../core/credential/credential-type.ts'
import { ListOf, Strict } from '../http/common-schemas.ts'
import { defineRoute, type Route } from '../http/define-route.ts'
import { answer } from '../http/outcome.ts'

export const CredentialTypeView = Strict({
  type: Type.String({ description: '`auth.type` of an integration' }),
  label: Type.String(),
  members: Type.Array(
    Strict({
      name: Type.String(),
      is_secret: Type.Boolean({ description: 'Write-only' }),
      is_required: Type.Boolean(),
      may_be_empty: Type.Boolean(),
    }),
  ),
})

const credentialTypeView = ({ type, label, members }: CredentialType): object => ({
  type,
  label,
  members: Object.entries(members).map(([name, { visibility, presence, may_be_empty }]) => ({
    name,
    is_secret: visibility === 'secret',
    is_required: presence === 'required',
    may_be_empty,
  })),
})

/** The console generates the credential form from this. */
export const credentialTypeRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/admin/credential-types',
    role: 'viewer',
    tag: 'integrations',
    summary: 'List the credential types and their members',
    answers: { 200: ListOf(CredentialTypeView) },
    handle: async () =>
      answer(200, { data: CREDENTIAL_TYPES.map(credentialTypeView), next_cursor: null }),
  }),
]
